# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a set of tasks as Parquet, for other trainers: python -I parquet_main.py IN.jsonl.gz OUT

The columns of the published set come first (`ops`, `data_source`, `code`), then all that our lines
have besides. What was written is read back and compared before the program ends with 0; 2 is an
input that is no set of tasks, 3 a machine without pyarrow or without room, each with one line.
"""

import gzip
import json
import os
import sys

PUBLISHED = ("ops", "data_source", "code")
NEEDED = {"ops": list, "data_source": str, "code": str}
# Whole numbers in some lines and fractions in others are one column of fractions.
FRACTIONS = ("seconds", "compile_seconds", "operations", "counted_bytes")


class NoSet(Exception):
    """One line that says what is wrong with the input."""


def read(path):
    """The lines of a set, each a dictionary."""
    tasks = []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    task = json.loads(line)
                except ValueError as error:
                    raise NoSet(f"{path}:{number}: no JSON: {error}")
                if not isinstance(task, dict):
                    raise NoSet(f"{path}:{number}: not an object")
                for name, kind in NEEDED.items():
                    if not isinstance(task.get(name), kind):
                        raise NoSet(f"{path}:{number}: '{name}' is missing or of another type")
                tasks.append(task)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise NoSet(f"{path}: {error}")
    if not tasks:
        raise NoSet(f"{path}: no tasks")
    return tasks


def columns(tasks):
    """{name: values} in the order of the file; what a line lacks is None."""
    names = list(PUBLISHED)
    for task in tasks:
        names += [name for name in task if name not in names]
    return {name: [plain(task.get(name)) for task in tasks] for name in names}


def plain(value):
    """An object within a line is JSON text: a column has one type."""
    return json.dumps(value) if isinstance(value, dict) else value


def schema(pyarrow, table):
    """The types of the columns; a column of different ones is refused."""
    fields = []
    for name, values in table.items():
        kinds = {type(value) for value in values if value is not None}
        if name in FRACTIONS or kinds == {int, float}:
            kind = pyarrow.float64()
        elif kinds <= {list}:
            inner = {type(item) for value in values if value for item in value}
            if not inner <= {str}:
                raise NoSet(f"'{name}': lists of something other than text")
            # A column that is None everywhere could be of any type.
            kind = pyarrow.list_(pyarrow.string()) if kinds else pyarrow.string()
        elif len(kinds) == 1:
            kind = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(),
                    bool: pyarrow.bool_()}[kinds.pop()]
        else:
            raise NoSet(f"'{name}': of different types in different lines")
        fields.append(pyarrow.field(name, kind))
    return pyarrow.schema(fields)


def write(source, target):
    """Writes `target`; the number of tasks."""
    import pyarrow
    import pyarrow.parquet

    table = columns(read(source))
    try:
        made = pyarrow.Table.from_pydict(table, schema=schema(pyarrow, table))
    except (pyarrow.ArrowException, OverflowError) as error:
        raise NoSet(f"{source}: {str(error).splitlines()[0]}")
    partial = target + ".part"
    try:
        pyarrow.parquet.write_table(made, partial, compression="zstd")
        again = pyarrow.parquet.read_table(partial)
        if not again.equals(made) or again.column_names[:3] != list(PUBLISHED):
            raise OSError(f"{target}: what was read back is not what was written")
        os.replace(partial, target)
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    return made.num_rows


def main(arguments):
    if len(arguments) != 2:
        print("usage: parquet_main.py SET.jsonl.gz SET.parquet", file=sys.stderr)
        return 2
    try:
        print(f"{write(*arguments)} tasks")
    except NoSet as error:
        print(error, file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"{sys.executable} cannot import {error.name}: install packaging/requirements.txt",
              file=sys.stderr)
        return 3
    except (OSError, MemoryError) as error:
        print(error or "out of memory", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
