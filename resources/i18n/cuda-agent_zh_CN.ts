<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>Attempts</name>
    <message>
        <source>%1 eager</source>
        <translation>eager 的 %1</translation>
    </message>
    <message>
        <source>%1 torch.compile</source>
        <translation>torch.compile 的 %1</translation>
    </message>
    <message>
        <source>Timed in turns, attempt %1 against attempt %2: %3 time.</source>
        <translation>交替计时，尝试 %1 相对尝试 %2 的时间差：%3。</translation>
    </message>
    <message>
        <source>Timed in turns, attempts %1 and %2 differ by less than can be told: %3.</source>
        <translation>交替计时，尝试 %1 与 %2 的差别小到无法分辨：%3。</translation>
    </message>
    <message>
        <source>No attempt found a correct candidate.</source>
        <translation>没有一次尝试找到正确的候选。</translation>
    </message>
    <message>
        <source>Attempt %1 is the best, judged once more in full: %2.</source>
        <translation>尝试 %1 最佳，已再次完整评判：%2。</translation>
    </message>
</context>
<context>
    <name>CodeFindBar</name>
    <message>
        <source>Not a regular expression: %1</source>
        <translation>不是有效的正则表达式：%1</translation>
    </message>
</context>
<context>
    <name>Profile</name>
    <message>
        <source>counted bytes</source>
        <translation>计数字节</translation>
    </message>
    <message>
        <source>counted operations</source>
        <translation>计数运算</translation>
    </message>
    <message>
        <source>warps</source>
        <translation>线程束</translation>
    </message>
    <message>
        <source>blocks</source>
        <translation>线程块</translation>
    </message>
    <message>
        <source>registers</source>
        <translation>寄存器</translation>
    </message>
    <message>
        <source>shared memory</source>
        <translation>共享内存</translation>
    </message>
    <message>
        <source>barriers</source>
        <translation>屏障</translation>
    </message>
    <message>
        <source>Bound by DRAM</source>
        <translation>受 DRAM 限制</translation>
    </message>
    <message>
        <source>Bound by L2</source>
        <translation>受 L2 限制</translation>
    </message>
    <message>
        <source>Bound by L1 and shared memory</source>
        <translation>受 L1 与共享内存限制</translation>
    </message>
    <message>
        <source>Bound by FP32 arithmetic</source>
        <translation>受 FP32 运算限制</translation>
    </message>
    <message>
        <source>Bound by tensor cores</source>
        <translation>受张量核心限制</translation>
    </message>
    <message>
        <source>Too much DRAM traffic</source>
        <translation>DRAM 流量过多</translation>
    </message>
    <message>
        <source>Uncoalesced loads</source>
        <translation>加载未合并</translation>
    </message>
    <message>
        <source>Uncoalesced stores</source>
        <translation>存储未合并</translation>
    </message>
    <message>
        <source>Bank conflicts of loads</source>
        <translation>加载存在存储体冲突</translation>
    </message>
    <message>
        <source>Bank conflicts of stores</source>
        <translation>存储存在存储体冲突</translation>
    </message>
    <message>
        <source>Registers are spilled</source>
        <translation>寄存器溢出</translation>
    </message>
    <message>
        <source>Divergent warps</source>
        <translation>线程束分歧</translation>
    </message>
    <message>
        <source>Many atomics</source>
        <translation>原子操作过多</translation>
    </message>
    <message>
        <source>Grid too small</source>
        <translation>网格过小</translation>
    </message>
    <message>
        <source>Last wave partly empty</source>
        <translation>最后一波未填满</translation>
    </message>
    <message>
        <source>Low occupancy</source>
        <translation>占用率低</translation>
    </message>
    <message>
        <source>Bound by instructions</source>
        <translation>受指令发射限制</translation>
    </message>
    <message>
        <source>Warps wait</source>
        <translation>线程束等待</translation>
    </message>
    <message>
        <source>Library below its limit</source>
        <translation>库内核未达极限</translation>
    </message>
    <message>
        <source>Gaps between launches</source>
        <translation>启动之间有空隙</translation>
    </message>
    <message>
        <source>reached</source>
        <translation>达到</translation>
    </message>
    <message>
        <source>measured ceiling</source>
        <translation>实测上限</translation>
    </message>
    <message>
        <source>of the measured ceiling</source>
        <translation>占实测上限</translation>
    </message>
    <message>
        <source>DRAM bytes</source>
        <translation>DRAM 字节</translation>
    </message>
    <message>
        <source>local bytes</source>
        <translation>本地内存字节</translation>
    </message>
    <message>
        <source>spilled bytes a thread</source>
        <translation>每线程溢出字节</translation>
    </message>
    <message>
        <source>registers a thread</source>
        <translation>每线程寄存器</translation>
    </message>
    <message>
        <source>share of L1 traffic</source>
        <translation>占 L1 流量</translation>
    </message>
    <message>
        <source>sectors per request</source>
        <translation>每请求扇区数</translation>
    </message>
    <message>
        <source>fewest that would do</source>
        <translation>最少所需</translation>
    </message>
    <message>
        <source>used bytes of a sector&apos;s 32</source>
        <translation>扇区 32 字节中用到</translation>
    </message>
    <message>
        <source>bank conflicts</source>
        <translation>存储体冲突</translation>
    </message>
    <message>
        <source>passes</source>
        <translation>遍数</translation>
    </message>
    <message>
        <source>repeated passes</source>
        <translation>重复的遍数</translation>
    </message>
    <message>
        <source>shared memory busy</source>
        <translation>共享内存繁忙</translation>
    </message>
    <message>
        <source>lanes at work of 32</source>
        <translation>32 条通道中工作的</translation>
    </message>
    <message>
        <source>atomic requests</source>
        <translation>原子请求</translation>
    </message>
    <message>
        <source>all requests</source>
        <translation>全部请求</translation>
    </message>
    <message>
        <source>waves</source>
        <translation>波数</translation>
    </message>
    <message>
        <source>empty places</source>
        <translation>空位</translation>
    </message>
    <message>
        <source>blocks a multiprocessor</source>
        <translation>每个多处理器的线程块</translation>
    </message>
    <message>
        <source>achieved occupancy</source>
        <translation>实际占用率</translation>
    </message>
    <message>
        <source>theoretical occupancy</source>
        <translation>理论占用率</translation>
    </message>
    <message>
        <source>cycles with an instruction</source>
        <translation>有指令发射的周期</translation>
    </message>
    <message>
        <source>share of waiting warps</source>
        <translation>等待线程束占比</translation>
    </message>
    <message>
        <source>reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>ceiling</source>
        <translation>上限</translation>
    </message>
    <message>
        <source>limited by</source>
        <translation>受限于</translation>
    </message>
    <message>
        <source>whole call</source>
        <translation>整次调用</translation>
    </message>
    <message>
        <source>sum of launches</source>
        <translation>各启动之和</translation>
    </message>
    <message>
        <source>launches</source>
        <translation>启动次数</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Whole call</source>
        <translation>整次调用</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1 data sheet %2</source>
        <translation>%1 数据手册 %2</translation>
    </message>
    <message>
        <source>%1 of the measured %2</source>
        <translation>实测 %2 的 %1</translation>
    </message>
    <message>
        <source>%1 of the data sheet&apos;s %2</source>
        <translation>数据手册 %2 的 %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>%1 at %2 FLOP/byte</source>
        <translation>%1，强度 %2 FLOP/字节</translation>
    </message>
    <message>
        <source>at the limit</source>
        <translation>已达极限</translation>
    </message>
    <message>
        <source>up to %1 faster</source>
        <translation>最多快 %1</translation>
    </message>
    <message>
        <source>memory copy</source>
        <translation>内存复制</translation>
    </message>
    <message>
        <source>FP32</source>
        <translation>FP32</translation>
    </message>
</context>
<context>
    <name>QsciScintilla</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <translation>剪切(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>复制(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <translation>粘贴(&amp;P)</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>Roofline</name>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>%1FLOP/s</source>
        <translation>%1FLOP/s</translation>
    </message>
    <message>
        <source>%1FLOP</source>
        <translation>%1FLOP</translation>
    </message>
</context>
<context>
    <name>RunProgress</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 分 %2 秒</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 小时 %2 分</translation>
    </message>
    <message>
        <source>%1 d %2 h</source>
        <translation>%1 天 %2 小时</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>done</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>ended without a word</source>
        <translation>未经通知就结束了</translation>
    </message>
    <message>
        <source>The trainer said that it runs, but no program holds the run any more: it was killed, or its machine went. Resume goes on from the last checkpoint.</source>
        <translation>训练程序曾说自己在运行，但已没有程序占有这个运行：它被杀死了，或者它的机器没有了。“恢复”从最后一个检查点继续。</translation>
    </message>
    <message>
        <source>in a long step</source>
        <translation>正在执行很长的一步</translation>
    </message>
    <message>
        <source>stopping after this step</source>
        <translation>这一步之后停止</translation>
    </message>
    <message>
        <source>pausing after this step</source>
        <translation>这一步之后暂停</translation>
    </message>
    <message>
        <source>going on</source>
        <translation>即将继续</translation>
    </message>
    <message>
        <source>%1 (stage %2 of %3)</source>
        <translation>%1（第 %2 阶段，共 %3）</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>第 %1 步，共 %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 个词元</translation>
    </message>
    <message>
        <source>%1 so far</source>
        <translation>已用 %1</translation>
    </message>
    <message>
        <source>about %1 left</source>
        <translation>约剩 %1</translation>
    </message>
</context>
<context>
    <name>Verdict</name>
    <message>
        <source>%1: %2</source>
        <comment>flag: explanation</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>not more than 5 % faster than eager</source>
        <translation>比 eager 快不超过 5 %</translation>
    </message>
    <message>
        <source>more than 5 % faster than eager, but not than torch.compile</source>
        <translation>比 eager 快 5 % 以上，但未比 torch.compile 快 5 % 以上</translation>
    </message>
    <message>
        <source>more than 5 % faster than both eager and torch.compile</source>
        <translation>比 eager 和 torch.compile 都快 5 % 以上</translation>
    </message>
    <message>
        <source>a check failed</source>
        <translation>有检查未通过</translation>
    </message>
    <message>
        <source>nothing could be checked</source>
        <translation>无法进行检查</translation>
    </message>
    <message>
        <source>Correct, reward %1: %2</source>
        <translation>正确，奖励 %1：%2</translation>
    </message>
    <message>
        <source>Wrong, reward %1</source>
        <translation>错误，奖励 %1</translation>
    </message>
    <message>
        <source>Wrong, reward %1: the check &quot;%2&quot; failed</source>
        <translation>错误，奖励 %1：检查“%2”未通过</translation>
    </message>
    <message>
        <source>Does not compile, reward %1</source>
        <translation>编译失败，奖励 %1</translation>
    </message>
    <message>
        <source>Training strength: few inputs, short timing.</source>
        <translation>训练强度：输入较少，计时较短。</translation>
    </message>
    <message>
        <source>On the CPU device: its times say nothing about GPU times.</source>
        <translation>在 CPU 设备上：其时间不能说明 GPU 上的时间。</translation>
    </message>
    <message>
        <source>On the GPU.</source>
        <translation>在 GPU 上。</translation>
    </message>
    <message>
        <source>Numerics tf32: baselines may use TF32 products.</source>
        <translation>数值模式 tf32：基线可使用 TF32 矩阵乘。</translation>
    </message>
    <message>
        <source>Numerics as published.</source>
        <translation>数值模式：按论文发布。</translation>
    </message>
    <message>
        <source>PyTorch&apos;s default numerics.</source>
        <translation>PyTorch 默认数值模式。</translation>
    </message>
    <message>
        <source>Took %1.</source>
        <translation>用时 %1。</translation>
    </message>
    <message>
        <source>Input case &quot;%1&quot;.</source>
        <translation>输入用例“%1”。</translation>
    </message>
    <message>
        <source>unknown</source>
        <comment>value</comment>
        <translation>未知</translation>
    </message>
    <message>
        <source>expected %1, got %2</source>
        <translation>应为 %1，实为 %2</translation>
    </message>
    <message>
        <source>Output %1 at index %2: %3.</source>
        <translation>输出 %1，索引 %2：%3。</translation>
    </message>
    <message>
        <source>Output %1: %2.</source>
        <translation>输出 %1：%2。</translation>
    </message>
    <message>
        <source>The error is %1; %2 is allowed.</source>
        <translation>误差为 %1；允许 %2。</translation>
    </message>
    <message>
        <source>%1.</source>
        <comment>a sentence from the log</comment>
        <translation>%1。</translation>
    </message>
    <message>
        <source>a slower clock during the run would go unnoticed.</source>
        <translation>运行期间的降频不会被发现。</translation>
    </message>
    <message>
        <source>the machine was slower than usual during some samples, so that times are less certain.</source>
        <translation>采样期间机器有时比平常慢，因此时间不够准确。</translation>
    </message>
    <message>
        <source>the candidate&apos;s own clock tells less time than passed outside; do not trust the time.</source>
        <translation>候选自身的时钟所计时间少于外部经过的时间；请勿相信该时间。</translation>
    </message>
    <message>
        <source>data may have stayed in a cache, or work was left out; read the kernel before believing it.</source>
        <translation>数据可能留在缓存中，或有工作被省略；请先阅读内核再采信。</translation>
    </message>
    <message>
        <source>two calls with the same input differ in their last bits, as atomic additions do.</source>
        <translation>相同输入的两次调用在末位有差异，原子加法即会如此。</translation>
    </message>
    <message>
        <source>the speed-ups compare with the times from the start of the session.</source>
        <translation>加速比是与会话开始时测得的时间相比。</translation>
    </message>
    <message>
        <source>not enforced: %1</source>
        <comment>limit of the sandbox</comment>
        <translation>未强制执行：%1</translation>
    </message>
    <message>
        <source>run untrusted candidates on a machine where it is.</source>
        <translation>请在能强制执行该限制的机器上运行不可信的候选。</translation>
    </message>
    <message>
        <source>a candidate may take more for a moment.</source>
        <translation>候选可能短时占用更多。</translation>
    </message>
    <message>
        <source>a candidate may start more of them.</source>
        <translation>候选可能启动更多。</translation>
    </message>
    <message>
        <source>a candidate may use more for a moment.</source>
        <translation>候选可能短时使用更多。</translation>
    </message>
    <message>
        <source>%1 was not measured: %2</source>
        <translation>未测量 %1：%2</translation>
    </message>
    <message>
        <source>candidate</source>
        <translation>候选</translation>
    </message>
    <message>
        <source>eager</source>
        <translation>eager</translation>
    </message>
    <message>
        <source>torch.compile</source>
        <translation>torch.compile</translation>
    </message>
    <message>
        <source>max-autotune</source>
        <translation>max-autotune</translation>
    </message>
    <message>
        <source>eager, TF32</source>
        <translation>eager，TF32</translation>
    </message>
    <message>
        <source>torch.compile, TF32</source>
        <translation>torch.compile，TF32</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>skipped</source>
        <translation>已跳过</translation>
    </message>
    <message>
        <source>ok</source>
        <translation>通过</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>未通过</translation>
    </message>
    <message>
        <source>%1: %2 (%3)</source>
        <comment>check: ok (detail)</comment>
        <translation>%1：%2（%3）</translation>
    </message>
    <message>
        <source>%1: %2 (95 % interval %3 to %4)</source>
        <translation>%1：%2（95 % 区间 %3 至 %4）</translation>
    </message>
    <message>
        <source>%1 % of what %2 allows</source>
        <translation>%2所允许的 %1 %</translation>
    </message>
    <message>
        <source>the arithmetic rate</source>
        <translation>算术速率</translation>
    </message>
    <message>
        <source>the memory bandwidth</source>
        <translation>内存带宽</translation>
    </message>
    <message>
        <source>Full strength: all inputs, long timing.</source>
        <translation>完整强度：全部输入，长时间计时。</translation>
    </message>
    <message>
        <source>random inputs</source>
        <translation>随机输入</translation>
    </message>
    <message>
        <source>adversarial inputs</source>
        <translation>对抗输入</translation>
    </message>
    <message>
        <source>guard zones</source>
        <translation>保护区</translation>
    </message>
    <message>
        <source>inputs unchanged</source>
        <translation>输入未被改动</translation>
    </message>
    <message>
        <source>repeat</source>
        <translation>重复</translation>
    </message>
    <message>
        <source>misaligned storage</source>
        <translation>未对齐的存储</translation>
    </message>
    <message>
        <source>no aliasing</source>
        <translation>无别名</translation>
    </message>
    <message>
        <source>timed calls</source>
        <translation>计时调用</translation>
    </message>
    <message>
        <source>after timing</source>
        <translation>计时之后</translation>
    </message>
    <message>
        <source>origin of the work</source>
        <translation>工作来源</translation>
    </message>
    <message>
        <source>whole numbers</source>
        <translation>整数输入</translation>
    </message>
    <message>
        <source>hidden shapes</source>
        <translation>隐藏的形状</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>源代码</translation>
    </message>
    <message>
        <source>fresh inputs</source>
        <translation>全新输入</translation>
    </message>
    <message>
        <source>knock-out</source>
        <translation>去除内核</translation>
    </message>
    <message>
        <source>process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>an access to memory that is not there</source>
        <translation>访问了不存在的内存</translation>
    </message>
    <message>
        <source>an illegal instruction</source>
        <translation>非法指令</translation>
    </message>
    <message>
        <source>a failed assertion</source>
        <translation>断言失败</translation>
    </message>
    <message>
        <source>a division by zero</source>
        <translation>除以零</translation>
    </message>
    <message>
        <source>a launch that the device refuses</source>
        <translation>设备拒绝的启动</translation>
    </message>
    <message>
        <source>a kernel that does not end</source>
        <translation>内核不结束</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>a limit of the sandbox</source>
        <translation>触及沙箱的限制</translation>
    </message>
    <message>
        <source>its process died</source>
        <translation>其进程已终止</translation>
    </message>
    <message>
        <source>an exception of its own code</source>
        <translation>其自身代码抛出异常</translation>
    </message>
    <message>
        <source>a fault of another kind</source>
        <translation>其他类型的故障</translation>
    </message>
    <message>
        <source>Fails, reward %1: %2</source>
        <translation>运行失败，奖励 %1：%2</translation>
    </message>
    <message>
        <source>Held to the published rules.</source>
        <translation>按论文规则评判。</translation>
    </message>
    <message>
        <source>Held to KernelBench&apos;s rules.</source>
        <translation>按 KernelBench 的规则评判。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ActionModel</name>
    <message>
        <source>%1, shortcut %2</source>
        <translation>%1，快捷键 %2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ApprovalBar</name>
    <message>
        <source>
… %1 characters are not shown here …
</source>
        <translation>
… 此处未显示 %1 个字符 …
</translation>
    </message>
    <message>
        <source>A call of the agent waits for you</source>
        <translation>智能体的一次调用正在等待您</translation>
    </message>
    <message>
        <source>Arguments of the call</source>
        <translation>调用的参数</translation>
    </message>
    <message>
        <source>Reason for a refusal</source>
        <translation>拒绝的理由</translation>
    </message>
    <message>
        <source>&amp;Allow Call</source>
        <translation>允许调用(&amp;A)</translation>
    </message>
    <message>
        <source>Allow A&amp;ll of This Tool</source>
        <translation>允许此工具的所有调用(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Refuse Call</source>
        <translation>拒绝调用(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Allow</source>
        <translation>允许(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Refuse</source>
        <translation>拒绝(&amp;R)</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1（%2）</translation>
    </message>
    <message>
        <source>Wherever the keyboard is</source>
        <translation>无论焦点在何处</translation>
    </message>
    <message>
        <source>The agent wants to use %1</source>
        <translation>智能体想使用 %1</translation>
    </message>
    <message>
        <source>Reason (optional)</source>
        <translation>理由（可选）</translation>
    </message>
    <message>
        <source>The agent reads it with the refusal</source>
        <translation>智能体会随拒绝一起读到</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::AttemptsDialog</name>
    <message>
        <source>Attempts at a Task</source>
        <translation>对任务的尝试</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>At once at most</source>
        <translation>最多同时进行</translation>
    </message>
    <message>
        <source>as many as fit</source>
        <translation>能容纳多少就多少</translation>
    </message>
    <message>
        <source>&amp;Attempts:</source>
        <translation>尝试次数(&amp;A)：</translation>
    </message>
    <message>
        <source>At &amp;once:</source>
        <translation>同时进行(&amp;O)：</translation>
    </message>
    <message>
        <source>Attempts differ in what they try; each has a session, a budget and a judge of its own. At the end their best candidates are judged once more and the two fastest are timed in turns. One attempt on each GPU fits; on a CPU, one for four hardware threads.</source>
        <translation>各次尝试的做法不同，每次都有自己的会话、预算和评判。最后再次评判各自的最佳候选，并对最快的两个交替计时。每个 GPU 容纳一次尝试；在 CPU 上每四个硬件线程一次。</translation>
    </message>
    <message>
        <source>Trained model</source>
        <translation>训练好的模型</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::AttemptsModel</name>
    <message>
        <source>at work</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>Not begun</source>
        <translation>未开始</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Best</source>
        <translation>最佳</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Turns</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Best Time</source>
        <translation>最佳时间</translation>
    </message>
    <message>
        <source>Against Eager</source>
        <translation>相对 eager</translation>
    </message>
    <message>
        <source>Against Compile</source>
        <translation>相对 compile</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>奖励</translation>
    </message>
    <message>
        <source>Now, or Why It Ended</source>
        <translation>当前动作或结束原因</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::AttemptsPane</name>
    <message>
        <source>Attempts</source>
        <translation>尝试</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::BarChart</name>
    <message>
        <source>%1: %2</source>
        <comment>name of a bar, its count</comment>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::BudgetDialog</name>
    <message>
        <source>Budget of a Session</source>
        <translation>会话的预算</translation>
    </message>
    <message>
        <source> s</source>
        <translation> 秒</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Turns at most</source>
        <translation>最多轮数</translation>
    </message>
    <message>
        <source>Seconds at most</source>
        <translation>最多秒数</translation>
    </message>
    <message>
        <source>Tokens at most</source>
        <translation>最多 token 数</translation>
    </message>
    <message>
        <source>Cost at most</source>
        <translation>最高费用</translation>
    </message>
    <message>
        <source>&amp;Turns:</source>
        <translation>轮数(&amp;T)：</translation>
    </message>
    <message>
        <source>T&amp;ime:</source>
        <translation>时间(&amp;I)：</translation>
    </message>
    <message>
        <source>T&amp;okens:</source>
        <translation>Token 数(&amp;O)：</translation>
    </message>
    <message>
        <source>&amp;Cost:</source>
        <translation>费用(&amp;C)：</translation>
    </message>
    <message>
        <source>No further turn begins after that. Tokens count prompts and answers; the cost goes by the prices in the endpoint&apos;s settings.</source>
        <translation>用完后不再开始新的一轮。Token 数包括提示和回答；费用按端点设置中的价格计算。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::BudgetStrip</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>Turns</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token 数</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>费用</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>Turns of the policy: %1 of at most %2</source>
        <translation>策略的轮数：%1，最多 %2</translation>
    </message>
    <message>
        <source>Turns of the policy: %1</source>
        <translation>策略的轮数：%1</translation>
    </message>
    <message>
        <source>Prompt: %1, of them cached: %2</source>
        <translation>提示：%1，其中缓存：%2</translation>
    </message>
    <message>
        <source>Answers: %1</source>
        <translation>回答：%1</translation>
    </message>
    <message numerus="yes">
        <source>Together: %1, in %n answer(s)</source>
        <translation>
            <numerusform>合计：%1，共 %n 个回答</numerusform>
        </translation>
    </message>
    <message>
        <source>At most: %1</source>
        <translation>最多：%1</translation>
    </message>
    <message>
        <source>By the prices in the settings of the endpoint</source>
        <translation>按端点设置中的价格计算</translation>
    </message>
    <message>
        <source>Of this run, from its first turn; waiting for the model: %1</source>
        <translation>本次运行从第一轮起的时间；其中等待模型：%1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::BuildModel</name>
    <message>
        <source>error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>note</source>
        <translation>附注</translation>
    </message>
    <message>
        <source>Turn</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Column</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::BuildPane</name>
    <message>
        <source>Build log</source>
        <translation>构建日志</translation>
    </message>
    <message>
        <source>Result of the compiler</source>
        <translation>编译结果</translation>
    </message>
    <message>
        <source>No message passes the filter.</source>
        <translation>没有消息符合筛选条件。</translation>
    </message>
    <message>
        <source>Output of the compiler</source>
        <translation>编译器输出</translation>
    </message>
    <message>
        <source>Kernels of the shown turn</source>
        <translation>所示轮次的内核</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Output and kernels</source>
        <translation>输出与内核</translation>
    </message>
    <message>
        <source>What the compiler says is listed here, with its whole output below.
Press Run, or Check after an edit: every turn that compiles adds its messages.</source>
        <translation>编译器的消息列在这里，完整输出在下方。
请按“运行”，或在修改后按“检查”：每个经过编译的轮次都会添加其消息。</translation>
    </message>
    <message>
        <source>Messages of the compiler</source>
        <translation>编译器消息</translation>
    </message>
    <message>
        <source>Next Error</source>
        <translation>下一个错误</translation>
    </message>
    <message>
        <source>Previous Error</source>
        <translation>上一个错误</translation>
    </message>
    <message>
        <source>Show Errors</source>
        <translation>显示错误</translation>
    </message>
    <message>
        <source>Show Warnings</source>
        <translation>显示警告</translation>
    </message>
    <message>
        <source>Show Notes</source>
        <translation>显示附注</translation>
    </message>
    <message>
        <source>Messages of This Turn Only</source>
        <translation>仅显示本轮消息</translation>
    </message>
    <message>
        <source>This turn only</source>
        <translation>仅本轮</translation>
    </message>
    <message>
        <source>Copy Messages</source>
        <translation>复制消息</translation>
    </message>
    <message>
        <source>Save the Compiler&apos;s Output…</source>
        <translation>保存编译器输出…</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>保存…</translation>
    </message>
    <message>
        <source>Filter Compiler Messages</source>
        <translation>筛选编译器消息</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Filter of the messages</source>
        <translation>消息筛选</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>No turn has begun yet.</source>
        <translation>尚未开始任何一轮。</translation>
    </message>
    <message>
        <source>Turn %1 has not compiled anything.</source>
        <translation>第 %1 轮没有编译任何内容。</translation>
    </message>
    <message>
        <source>Turn %1 compiled in %2 without messages.</source>
        <translation>第 %1 轮编译用时 %2，没有消息。</translation>
    </message>
    <message>
        <source>Turn %1 did not compile (%2); the compiler named no place.</source>
        <translation>第 %1 轮编译失败（%2）；编译器没有指出位置。</translation>
    </message>
    <message>
        <source>Errors: %1, warnings: %2, notes: %3.</source>
        <translation>错误：%1，警告：%2，附注：%3。</translation>
    </message>
    <message>
        <source>Turn %1 compiled in %2. %3</source>
        <translation>第 %1 轮编译用时 %2。%3</translation>
    </message>
    <message>
        <source>Turn %1 did not compile (%2). %3</source>
        <translation>第 %1 轮编译失败（%2）。%3</translation>
    </message>
    <message>
        <source>The output of turn %1 cannot be read: %2</source>
        <translation>无法读取第 %1 轮的输出：%2</translation>
    </message>
    <message>
        <source>… the output goes on; save it to read the rest.</source>
        <translation>……后面还有输出；保存后可查看其余部分。</translation>
    </message>
    <message>
        <source>Errors: %1</source>
        <translation>错误：%1</translation>
    </message>
    <message>
        <source>Warnings: %1</source>
        <translation>警告：%1</translation>
    </message>
    <message>
        <source>Notes: %1</source>
        <translation>附注：%1</translation>
    </message>
    <message>
        <source>No messages so far.</source>
        <translation>目前没有消息。</translation>
    </message>
    <message>
        <source>Turn %1 has no output to save.</source>
        <translation>第 %1 轮没有可保存的输出。</translation>
    </message>
    <message>
        <source>%1 cannot be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>Save the Compiler&apos;s Output</source>
        <translation>保存编译器输出</translation>
    </message>
    <message>
        <source>Logs (*.log)</source>
        <translation>日志 (*.log)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Not saved</source>
        <translation>未保存</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CardLayout</name>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>▲ Earlier lines</source>
        <translation>▲ 较早的行</translation>
    </message>
    <message>
        <source>▼ Later lines (part %1 of %2)</source>
        <translation>▼ 较晚的行（第 %1 部分，共 %2 部分）</translation>
    </message>
    <message>
        <source>▴ Fold</source>
        <translation>▴ 折叠</translation>
    </message>
    <message>
        <source>▾ Show all %1 lines</source>
        <translation>▾ 显示全部 %1 行</translation>
    </message>
    <message>
        <source>▾ Show all</source>
        <translation>▾ 显示全部</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ChecksModel</name>
    <message>
        <source>✓ ok</source>
        <translation>✓ 通过</translation>
    </message>
    <message>
        <source>✗ failed</source>
        <translation>✗ 未通过</translation>
    </message>
    <message>
        <source>– skipped</source>
        <translation>– 已跳过</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查项</translation>
    </message>
    <message>
        <source>Detail</source>
        <translation>详情</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CodeEditor</name>
    <message>
        <source>Text of %1</source>
        <translation>%1 的文本</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CodeFindBar</name>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find in this file</source>
        <translation>在此文件中查找</translation>
    </message>
    <message>
        <source>Aa</source>
        <translation>Aa</translation>
    </message>
    <message>
        <source>Match case</source>
        <translation>区分大小写</translation>
    </message>
    <message>
        <source>W</source>
        <translation>W</translation>
    </message>
    <message>
        <source>Whole words</source>
        <translation>全字匹配</translation>
    </message>
    <message>
        <source>.*</source>
        <translation>.*</translation>
    </message>
    <message>
        <source>Regular expression</source>
        <translation>正则表达式</translation>
    </message>
    <message>
        <source>Match before (Shift+F3)</source>
        <translation>上一个匹配 (Shift+F3)</translation>
    </message>
    <message>
        <source>Next match (F3)</source>
        <translation>下一个匹配 (F3)</translation>
    </message>
    <message>
        <source>×</source>
        <translation>×</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭 (Esc)</translation>
    </message>
    <message>
        <source>Replace with</source>
        <translation>替换为</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Replace this match</source>
        <translation>替换此匹配项</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Replace all, as one step of undo</source>
        <translation>全部替换（撤销时为一步）</translation>
    </message>
    <message>
        <source>No match</source>
        <translation>没有匹配项</translation>
    </message>
    <message numerus="yes">
        <source>%n match(es)</source>
        <translation>
            <numerusform>%n 个匹配项</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message numerus="yes">
        <source>%n replaced</source>
        <translation>
            <numerusform>已替换 %n 处</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CodePane</name>
    <message>
        <source>Unsaved edits of the last time are back: %1</source>
        <translation>上次未保存的修改已恢复：%1</translation>
    </message>
    <message>
        <source>%1.py</source>
        <translation>%1.py</translation>
    </message>
    <message>
        <source>There is no file %1 in this turn.</source>
        <translation>本轮没有文件 %1。</translation>
    </message>
    <message>
        <source>Restore turn %1</source>
        <translation>恢复第 %1 轮</translation>
    </message>
    <message>
        <source>There are unsaved edits. Restoring turn %1 replaces them.</source>
        <translation>存在未保存的修改。恢复第 %1 轮将替换它们。</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Turn %1 cannot be restored: %2</source>
        <translation>无法恢复第 %1 轮：%2</translation>
    </message>
    <message>
        <source>The files of turn %1 are back as unsaved edits. Check makes them a turn.</source>
        <translation>第 %1 轮的文件已作为未保存的修改恢复。按“检查”可使其成为新的一轮。</translation>
    </message>
    <message>
        <source>The newest files are those of turn %1 already.</source>
        <translation>最新文件已经是第 %1 轮的文件。</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Compile, verify and time the files as they are here (Ctrl+Return)</source>
        <translation>按当前内容编译、验证并计时 (Ctrl+Return)</translation>
    </message>
    <message>
        <source>Restore This Turn</source>
        <translation>恢复此轮</translation>
    </message>
    <message>
        <source>Load the files of this turn as edits of the newest ones</source>
        <translation>载入此轮的文件，作为对最新文件的修改</translation>
    </message>
    <message>
        <source>Discard Edits</source>
        <translation>放弃修改</translation>
    </message>
    <message>
        <source>Go back to the newest files of the log</source>
        <translation>回到日志中的最新文件</translation>
    </message>
    <message>
        <source>Compare with the Turn Before</source>
        <translation>与上一轮比较</translation>
    </message>
    <message>
        <source>Show My Edits of This File</source>
        <translation>显示我对此文件的修改</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find Next</source>
        <translation>查找下一个</translation>
    </message>
    <message>
        <source>Find Previous</source>
        <translation>查找上一个</translation>
    </message>
    <message>
        <source>Go to Line…</source>
        <translation>转到行…</translation>
    </message>
    <message>
        <source>Fold or Unfold All</source>
        <translation>全部折叠或展开</translation>
    </message>
    <message>
        <source>Larger Code</source>
        <translation>放大代码</translation>
    </message>
    <message>
        <source>Smaller Code</source>
        <translation>缩小代码</translation>
    </message>
    <message>
        <source>Code at Its Own Size</source>
        <translation>代码恢复原大小</translation>
    </message>
    <message>
        <source>Next File</source>
        <translation>下一个文件</translation>
    </message>
    <message>
        <source>Previous File</source>
        <translation>上一个文件</translation>
    </message>
    <message>
        <source>Compiler Messages in the Code</source>
        <translation>在代码中显示编译器消息</translation>
    </message>
    <message>
        <source>Go to Line</source>
        <translation>转到行</translation>
    </message>
    <message>
        <source>Line, 1 to %1:</source>
        <translation>行号，1 到 %1：</translation>
    </message>
    <message>
        <source>Discard edits</source>
        <translation>放弃修改</translation>
    </message>
    <message>
        <source>The unsaved edits will be lost.</source>
        <translation>未保存的修改将会丢失。</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Keep mine</source>
        <translation>保留我的</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>采用对方的</translation>
    </message>
    <message>
        <source>Show difference</source>
        <translation>显示差异</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>忽略</translation>
    </message>
    <message>
        <source>The files that the agent writes appear here, turn by turn, with the task file beside them. Run a session or open one.</source>
        <translation>智能体编写的文件会逐轮显示在这里，旁边是任务文件。请运行或打开一个会话。</translation>
    </message>
    <message>
        <source>%1*</source>
        <translation>%1*</translation>
    </message>
    <message>
        <source>%1, edited</source>
        <translation>%1，已修改</translation>
    </message>
    <message>
        <source>%1, the task: protected</source>
        <translation>%1，任务文件：受保护</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Two versions of a file side by side</source>
        <translation>并排显示文件的两个版本</translation>
    </message>
    <message>
        <source>Protected: the task says what is right, so nobody edits it here.</source>
        <translation>受保护：任务定义何为正确，因此不能在此修改。</translation>
    </message>
    <message>
        <source>Read-only: turn %1 of %2.</source>
        <translation>只读：第 %1 轮，共 %2 轮。</translation>
    </message>
    <message>
        <source>Read-only: an earlier moment of the session.</source>
        <translation>只读：会话中较早的时刻。</translation>
    </message>
    <message>
        <source>Read-only while the session is at work. Pause to edit.</source>
        <translation>会话运行期间只读。暂停后可修改。</translation>
    </message>
    <message>
        <source>Edited. Check compiles, verifies and times it.</source>
        <translation>已修改。按“检查”进行编译、验证和计时。</translation>
    </message>
    <message>
        <source>Newest version. You can edit it.</source>
        <translation>最新版本，可以修改。</translation>
    </message>
    <message>
        <source>The log has a newer %1 than the one you edited.</source>
        <translation>日志中的 %1 比您修改的版本更新。</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2.</source>
        <translation>无法读取 %1：%2。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Type a command</source>
        <translation>输入命令</translation>
    </message>
    <message>
        <source>Command to look for</source>
        <translation>要查找的命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ConnectionTest</name>
    <message>
        <source>It answers.</source>
        <translation>它有回答。</translation>
    </message>
    <message>
        <source>It answers as %1.</source>
        <translation>它以 %1 的名义回答。</translation>
    </message>
    <message>
        <source>Whole answer after %1, its first piece after %2.</source>
        <translation>完整回答用时 %1，首段用时 %2。</translation>
    </message>
    <message>
        <source>It calls tools.</source>
        <translation>它会调用工具。</translation>
    </message>
    <message>
        <source>It does not call tools: it answered in words. An agent needs a model that calls tools; some servers need an option for that.</source>
        <translation>它不调用工具：它用文字作了回答。智能体需要会调用工具的模型；有些服务器需要为此打开一个选项。</translation>
    </message>
    <message>
        <source>It counts tokens.</source>
        <translation>它会统计 token 数。</translation>
    </message>
    <message>
        <source>It does not count tokens; this program estimates them.</source>
        <translation>它不统计 token 数；由本程序估算。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CrawlDialog</name>
    <message>
        <source>Operators That the Crawl Found</source>
        <translation>爬取找到的算子</translation>
    </message>
    <message>
        <source>Filter: words in any column</source>
        <translation>筛选：任意列中的词</translation>
    </message>
    <message>
        <source>Filter operators</source>
        <translation>筛选算子</translation>
    </message>
    <message>
        <source>Kept or dropped</source>
        <translation>保留或舍弃</translation>
    </message>
    <message>
        <source>Kept and dropped</source>
        <translation>保留的和舍弃的</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Dropped</source>
        <translation>舍弃</translation>
    </message>
    <message>
        <source>Operators</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Reading %1 …</source>
        <translation>正在读取 %1 …</translation>
    </message>
    <message>
        <source>%1 shown; of %2 found %3 are kept and %4 dropped</source>
        <translation>显示 %1 个；找到的 %2 个中保留 %3 个，舍弃 %4 个</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CrawlModel</name>
    <message>
        <source>kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>dropped</source>
        <translation>舍弃</translation>
    </message>
    <message>
        <source>Operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>族</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::DataPage</name>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Reading %1 …</source>
        <translation>正在读取 %1…</translation>
    </message>
    <message>
        <source>All levels and folders</source>
        <translation>所有级别和文件夹</translation>
    </message>
    <message>
        <source>(none)</source>
        <translation>（无）</translation>
    </message>
    <message>
        <source>Tasks: %1</source>
        <translation>任务：%1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>%1, %2 unusable</source>
        <translation>%1，%2 个不可用</translation>
    </message>
    <message>
        <source>The source of the selected task will be here.
Open a folder of tasks in KernelBench form, or a JSON-lines file.</source>
        <translation>所选任务的源代码将显示在这里。
请打开 KernelBench 格式的任务文件夹，或 JSON Lines 文件。</translation>
    </message>
    <message>
        <source>line %1 of %2</source>
        <translation>%2 的第 %1 行</translation>
    </message>
    <message>
        <source>%1 could not be written: %2. Choose another place.</source>
        <translation>无法写入 %1：%2。请另选位置。</translation>
    </message>
    <message>
        <source>Tasks written to %1: %2</source>
        <translation>已写入 %1 的任务数：%2</translation>
    </message>
    <message>
        <source>Open a folder of tasks</source>
        <translation>打开任务文件夹</translation>
    </message>
    <message>
        <source>Open a task set</source>
        <translation>打开任务集</translation>
    </message>
    <message>
        <source>Export the visible tasks as CSV</source>
        <translation>将可见任务导出为 CSV</translation>
    </message>
    <message>
        <source>CSV files (*.csv)</source>
        <translation>CSV 文件 (*.csv)</translation>
    </message>
    <message>
        <source>Open &amp;Folder…</source>
        <translation>打开文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>Open F&amp;ile…</source>
        <translation>打开文件(&amp;I)…</translation>
    </message>
    <message>
        <source>&amp;Sample Tasks</source>
        <translation>示例任务(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Reload</source>
        <translation>重新载入(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Open as Session</source>
        <translation>作为会话打开(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Copy Rows</source>
        <translation>复制行(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Export List as CSV…</source>
        <translation>将列表导出为 CSV(&amp;E)…</translation>
    </message>
    <message>
        <source>Fi&amp;lter Tasks</source>
        <translation>筛选任务(&amp;L)</translation>
    </message>
    <message>
        <source>Task set</source>
        <translation>任务集</translation>
    </message>
    <message>
        <source>Recent Sets</source>
        <translation>最近的任务集</translation>
    </message>
    <message>
        <source>Open task set</source>
        <translation>打开任务集</translation>
    </message>
    <message>
        <source>Filter: words in any column</source>
        <translation>筛选：任意列中的词</translation>
    </message>
    <message>
        <source>Filter tasks</source>
        <translation>筛选任务</translation>
    </message>
    <message>
        <source>Level or folder</source>
        <translation>级别或文件夹</translation>
    </message>
    <message>
        <source>Number of tasks</source>
        <translation>任务数</translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Open as Session</source>
        <translation>作为会话打开</translation>
    </message>
    <message>
        <source>Open the selected task as a session</source>
        <translation>将所选任务作为会话打开</translation>
    </message>
    <message>
        <source>Why this is no task</source>
        <translation>不是任务的原因</translation>
    </message>
    <message>
        <source>No sets yet</source>
        <translation>暂无任务集</translation>
    </message>
    <message>
        <source>The set is written when the synthesis ends.</source>
        <translation>合成结束时写出任务集。</translation>
    </message>
    <message>
        <source>Task sets (*.jsonl *.jsonl.gz *.ndjson *.json *.py);;All files (*)</source>
        <translation>任务集 (*.jsonl *.jsonl.gz *.ndjson *.json *.py);;所有文件 (*)</translation>
    </message>
    <message>
        <source>&amp;New Synthesis…</source>
        <translation>新建合成(&amp;N)…</translation>
    </message>
    <message>
        <source>S&amp;top Synthesis</source>
        <translation>停止合成(&amp;T)</translation>
    </message>
    <message>
        <source>Filters and &amp;Distributions</source>
        <translation>筛选与分布(&amp;D)</translation>
    </message>
    <message>
        <source>Filters in force</source>
        <translation>生效的筛选</translation>
    </message>
    <message>
        <source>Set or candidates</source>
        <translation>任务集或候选</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>任务集</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>候选</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>a filter, its value</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Operator: %1</source>
        <translation>算子：%1</translation>
    </message>
    <message>
        <source>Clear all</source>
        <translation>全部清除</translation>
    </message>
    <message>
        <source>A synthesis is running already, in %1. Stop it first.</source>
        <translation>已有合成正在 %1 中运行。请先停止它。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::DiffView</name>
    <message>
        <source>Differences between turns</source>
        <translation>轮次之间的差异</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Older version: turn</source>
        <translation>旧版本：轮次</translation>
    </message>
    <message>
        <source>Newer version: turn</source>
        <translation>新版本：轮次</translation>
    </message>
    <message>
        <source>Turn %1: does not compile</source>
        <translation>第 %1 轮：编译失败</translation>
    </message>
    <message>
        <source>Summary of the differences</source>
        <translation>差异摘要</translation>
    </message>
    <message>
        <source>Current change</source>
        <translation>当前更改</translation>
    </message>
    <message>
        <source>Two versions side by side</source>
        <translation>两个版本并排显示</translation>
    </message>
    <message>
        <source>Two versions of a file stand here side by side as soon as a turn has written one.
Press Run, or open a session.</source>
        <translation>某一轮写入文件后，这里会并排显示该文件的两个版本。
请按“运行”，或打开一个会话。</translation>
    </message>
    <message>
        <source>Previous Change</source>
        <translation>上一处更改</translation>
    </message>
    <message>
        <source>Next Change</source>
        <translation>下一处更改</translation>
    </message>
    <message>
        <source>Compare the Shown Turn with the One Before</source>
        <translation>将所示轮次与上一轮比较</translation>
    </message>
    <message>
        <source>Swap the Two Versions</source>
        <translation>交换两个版本</translation>
    </message>
    <message>
        <source>Copy Lines</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>%1 (new)</source>
        <translation>%1（新增）</translation>
    </message>
    <message>
        <source>%1 (gone)</source>
        <translation>%1（已删除）</translation>
    </message>
    <message>
        <source>%1 (changed)</source>
        <translation>%1（已更改）</translation>
    </message>
    <message>
        <source>the start</source>
        <translation>起点</translation>
    </message>
    <message>
        <source>turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>%1 of %2 cannot be read: %3</source>
        <translation>无法读取%2的 %1：%3</translation>
    </message>
    <message>
        <source>There is one version only: %1 of %2.</source>
        <translation>只有一个版本：%2的 %1。</translation>
    </message>
    <message>
        <source>The same turn is chosen twice: %1 of %2.</source>
        <translation>两侧选择了同一轮：%2的 %1。</translation>
    </message>
    <message>
        <source>No difference: %1 is the same in %2 and %3.</source>
        <translation>没有差异：%1 在%2和%3中相同。</translation>
    </message>
    <message>
        <source>New in %1; lines: %2.</source>
        <translation>%1新增；行数：%2。</translation>
    </message>
    <message>
        <source>Gone in %1; lines: %2.</source>
        <translation>%1已删除；行数：%2。</translation>
    </message>
    <message>
        <source>Lines added: %1, removed: %2.</source>
        <translation>新增行：%1，删除行：%2。</translation>
    </message>
    <message>
        <source>Changes: %1</source>
        <translation>更改：%1 处</translation>
    </message>
    <message>
        <source>Change %1 of %2</source>
        <translation>第 %1 处更改，共 %2 处</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::EditStore</name>
    <message>
        <source>The kept edits in %1 could not be removed.</source>
        <translation>无法删除保存在 %1 中的修改。</translation>
    </message>
    <message>
        <source>Unsaved edits cannot be kept in %1 (%2): they would be lost in a crash.</source>
        <translation>未保存的修改无法存入 %1（%2）：程序崩溃时会丢失。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::EditsDialog</name>
    <message>
        <source>Edits of %1</source>
        <translation>对 %1 的修改</translation>
    </message>
    <message>
        <source>The newest version of the log on the left, your text on the right</source>
        <translation>左侧为日志中的最新版本，右侧为您的文本</translation>
    </message>
    <message>
        <source>Previous Change</source>
        <translation>上一处更改</translation>
    </message>
    <message>
        <source>Next Change</source>
        <translation>下一处更改</translation>
    </message>
    <message>
        <source>Copy Lines</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>Keep mine</source>
        <translation>保留我的</translation>
    </message>
    <message>
        <source>Take theirs</source>
        <translation>采用对方的</translation>
    </message>
    <message>
        <source>Left: the newest %1 of the log. Right: yours. Lines added: %2, removed: %3.</source>
        <translation>左：日志中最新的 %1。右：您的版本。新增行：%2，删除行：%3。</translation>
    </message>
    <message>
        <source>Your %1 has the same lines as the log&apos;s.</source>
        <translation>您的 %1 与日志中的内容相同。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::EndpointDialog</name>
    <message>
        <source>Language Model Endpoint</source>
        <translation>语言模型端点</translation>
    </message>
    <message>
        <source>The test was stopped.</source>
        <translation>测试已停止。</translation>
    </message>
    <message>
        <source>Base URL</source>
        <translation>基础 URL</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>as the endpoint names it</source>
        <translation>按端点的命名</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>密钥</translation>
    </message>
    <message>
        <source>&amp;Forget Key</source>
        <translation>忘记密钥(&amp;F)</translation>
    </message>
    <message>
        <source>Forget the key</source>
        <translation>忘记密钥</translation>
    </message>
    <message>
        <source>Tokens of prompt and answer</source>
        <translation>提示与回答合计的 token 数</translation>
    </message>
    <message>
        <source>Tokens of an answer</source>
        <translation>一个回答的 token 数</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>the endpoint&apos;s own</source>
        <translation>端点的默认值</translation>
    </message>
    <message>
        <source>Price of a million prompt tokens</source>
        <translation>每百万提示 token 的价格</translation>
    </message>
    <message>
        <source>Price of a million cached prompt tokens</source>
        <translation>每百万缓存提示 token 的价格</translation>
    </message>
    <message>
        <source>Price of a million answer tokens</source>
        <translation>每百万回答 token 的价格</translation>
    </message>
    <message>
        <source>&amp;Show answers while they are written</source>
        <translation>边写边显示回答(&amp;S)</translation>
    </message>
    <message>
        <source>Show answers while they are written</source>
        <translation>边写边显示回答</translation>
    </message>
    <message>
        <source>Off for servers that cannot stream</source>
        <translation>服务器不支持流式传输时请关闭</translation>
    </message>
    <message>
        <source>&amp;Base URL:</source>
        <translation>基础 URL(&amp;B)：</translation>
    </message>
    <message>
        <source>&amp;Model:</source>
        <translation>模型(&amp;M)：</translation>
    </message>
    <message>
        <source>&amp;Key:</source>
        <translation>密钥(&amp;K)：</translation>
    </message>
    <message>
        <source>&amp;Context tokens:</source>
        <translation>上下文 token 数(&amp;C)：</translation>
    </message>
    <message>
        <source>&amp;Answer tokens:</source>
        <translation>回答 token 数(&amp;A)：</translation>
    </message>
    <message>
        <source>&amp;Temperature:</source>
        <translation>温度(&amp;T)：</translation>
    </message>
    <message>
        <source>Prices of a million tokens, in any currency</source>
        <translation>每百万 token 的价格，币种不限</translation>
    </message>
    <message>
        <source>&amp;Prompt:</source>
        <translation>提示(&amp;P)：</translation>
    </message>
    <message>
        <source>Ca&amp;ched:</source>
        <translation>缓存(&amp;C)：</translation>
    </message>
    <message>
        <source>Answ&amp;er:</source>
        <translation>回答(&amp;E)：</translation>
    </message>
    <message>
        <source>Test Co&amp;nnection</source>
        <translation>测试连接(&amp;N)</translation>
    </message>
    <message>
        <source>Test the connection</source>
        <translation>测试连接</translation>
    </message>
    <message>
        <source>St&amp;op</source>
        <translation>停止(&amp;O)</translation>
    </message>
    <message>
        <source>Stop the test</source>
        <translation>停止测试</translation>
    </message>
    <message>
        <source>The connection is being tested</source>
        <translation>正在测试连接</translation>
    </message>
    <message>
        <source>Result of the test</source>
        <translation>测试结果</translation>
    </message>
    <message>
        <source>this dialog</source>
        <translation>此对话框</translation>
    </message>
    <message>
        <source>Looking for the key…</source>
        <translation>正在查找密钥…</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Forgetting the key…</source>
        <translation>正在忘记密钥…</translation>
    </message>
    <message>
        <source>One small request goes to %1…</source>
        <translation>正在向 %1 发送一个小请求…</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::EndpointSettings</name>
    <message>
        <source>there is none</source>
        <translation>不存在</translation>
    </message>
    <message>
        <source>The key comes from the environment: %1.</source>
        <translation>密钥来自环境变量：%1。</translation>
    </message>
    <message>
        <source>The key stands in %1. It is safer in the environment or here.</source>
        <translation>密钥写在 %1 中。放在环境变量里或此处更安全。</translation>
    </message>
    <message>
        <source>The key is in the desktop&apos;s secret store.</source>
        <translation>密钥保存在桌面的密钥存储中。</translation>
    </message>
    <message>
        <source>The key is kept until this program ends.</source>
        <translation>密钥保留到本程序结束。</translation>
    </message>
    <message>
        <source>The key is kept until this program ends; the desktop&apos;s secret store: %1.</source>
        <translation>密钥保留到本程序结束；桌面的密钥存储：%1。</translation>
    </message>
    <message>
        <source>There is no key. One given here goes to the desktop&apos;s secret store.</source>
        <translation>没有密钥。在此输入的密钥会存入桌面的密钥存储。</translation>
    </message>
    <message>
        <source>There is no key. One given here is kept until this program ends; the desktop&apos;s secret store: %1.</source>
        <translation>没有密钥。在此输入的密钥保留到本程序结束；桌面的密钥存储：%1。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::FilePage</name>
    <message>
        <source>%1 is not a text: it is shown in part and cannot be edited.</source>
        <translation>%1 不是文本：仅部分显示，且不能修改。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::FilterPanel</name>
    <message>
        <source>Filters and distributions</source>
        <translation>筛选与分布</translation>
    </message>
    <message>
        <source>Name of an operator</source>
        <translation>算子名称</translation>
    </message>
    <message>
        <source>any</source>
        <translation>任意</translation>
    </message>
    <message>
        <source>Operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Fewest operators</source>
        <translation>最少算子数</translation>
    </message>
    <message>
        <source>Most operators</source>
        <translation>最多算子数</translation>
    </message>
    <message>
        <source>Operators</source>
        <translation>算子数</translation>
    </message>
    <message>
        <source>Shortest eager time in milliseconds</source>
        <translation>最短 eager 时间（毫秒）</translation>
    </message>
    <message>
        <source>Longest eager time in milliseconds</source>
        <translation>最长 eager 时间（毫秒）</translation>
    </message>
    <message>
        <source>Eager, ms</source>
        <translation>eager，毫秒</translation>
    </message>
    <message>
        <source>%1 (and %2 more)</source>
        <translation>%1（另有 %2 个）</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::FindBar</name>
    <message>
        <source>Find in trace</source>
        <translation>在轨迹中查找</translation>
    </message>
    <message>
        <source>Text to find in the trace</source>
        <translation>要在轨迹中查找的文本</translation>
    </message>
    <message>
        <source>Matches</source>
        <translation>匹配项</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>上一个匹配</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>下一个匹配</translation>
    </message>
    <message>
        <source>Close find</source>
        <translation>关闭查找</translation>
    </message>
    <message>
        <source>%1 or more</source>
        <translation>%1 或更多</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>正在查找…</translation>
    </message>
    <message>
        <source>No match</source>
        <translation>没有匹配项</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::FindingsModel</name>
    <message>
        <source>%1: %2</source>
        <comment>expected gain: rule</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Click or press Enter to go to %1, line %2</source>
        <translation>单击或按回车键转到 %1 第 %2 行</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::Gauge</name>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::KernelModel</name>
    <message>
        <source>Registers</source>
        <translation>寄存器</translation>
    </message>
    <message>
        <source>Shared memory</source>
        <translation>共享内存</translation>
    </message>
    <message>
        <source>Spills</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>Stack</source>
        <translation>栈</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>内核</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::KernelsModel</name>
    <message>
        <source>%1 B</source>
        <translation>%1 B</translation>
    </message>
    <message>
        <source>median of the traced calls, %1 to %2</source>
        <translation>所跟踪调用的中位数，%1 至 %2</translation>
    </message>
    <message>
        <source>grid %1, block %2</source>
        <translation>网格 %1，线程块 %2</translation>
    </message>
    <message>
        <source>Kernel, copy or step, in the order of the call</source>
        <translation>内核、复制或步骤，按调用顺序</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Time of one launch, the median</source>
        <translation>一次启动的时间（中位数）</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Share of the sum of all launches</source>
        <translation>占全部启动之和的比例</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>Speed of light of memory: the nearest of its measured ceilings</source>
        <translation>内存的光速：最接近的实测上限</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Speed of light of arithmetic: the nearest of its measured ceilings</source>
        <translation>运算的光速：最接近的实测上限</translation>
    </message>
    <message>
        <source>Compute</source>
        <translation>运算</translation>
    </message>
    <message>
        <source>Achieved occupancy: resident warps over the most that fit</source>
        <translation>实际占用率：驻留线程束与最多可容纳数之比</translation>
    </message>
    <message>
        <source>Occupancy</source>
        <translation>占用率</translation>
    </message>
    <message>
        <source>Theoretical occupancy: what its resources allow</source>
        <translation>理论占用率：其资源所允许的</translation>
    </message>
    <message>
        <source>Possible</source>
        <translation>理论</translation>
    </message>
    <message>
        <source>What limits the theoretical occupancy</source>
        <translation>理论占用率受什么限制</translation>
    </message>
    <message>
        <source>Limited by</source>
        <translation>受限于</translation>
    </message>
    <message>
        <source>Registers a thread</source>
        <translation>每线程寄存器</translation>
    </message>
    <message>
        <source>Registers</source>
        <translation>寄存器</translation>
    </message>
    <message>
        <source>Bytes that a thread spills from registers</source>
        <translation>每个线程从寄存器溢出的字节</translation>
    </message>
    <message>
        <source>Spills</source>
        <translation>溢出</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ListingMaker</name>
    <message>
        <source>The plan launches no kernel of its own</source>
        <translation>该计划没有启动自己的内核</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ListingModel</name>
    <message numerus="yes">
        <source>%n instruction(s)</source>
        <translation>
            <numerusform>%n 条指令</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n register(s)</source>
        <translation>
            <numerusform>%n 个寄存器</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 bytes of shared memory</source>
        <translation>%1 字节共享内存</translation>
    </message>
    <message>
        <source>%1 bytes spilled</source>
        <translation>溢出 %1 字节</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>kernel: what it has</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1 of the samples of its kernel were seen on line %2, most of them waiting: %3</source>
        <translation>其内核 %1 的采样落在第 %2 行，其中多数在等待：%3</translation>
    </message>
    <message>
        <source>not known</source>
        <comment>what a warp waits for</comment>
        <translation>未知</translation>
    </message>
    <message>
        <source>Share of the kernel&apos;s samples: how often a warp was seen on the line</source>
        <translation>占该内核采样的比例：在该行看到线程束的频率</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>开销</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>PTX Line</source>
        <translation>PTX 行</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Instruction</source>
        <translation>指令</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ListingPane</name>
    <message>
        <source>Machine code</source>
        <translation>机器代码</translation>
    </message>
    <message>
        <source>The instructions that the compiler makes of a kernel stand here, each under its line.
Press Run, or open a session.</source>
        <translation>编译器为内核生成的指令显示在这里，每条都在其源代码行之下。
请按“运行”，或打开一个会话。</translation>
    </message>
    <message>
        <source>Only kernels of plan candidates are listed; this turn has no plan.json.</source>
        <translation>只能列出计划类候选的内核；此轮没有 plan.json。</translation>
    </message>
    <message>
        <source>%1 on %2, made in %3</source>
        <translation>%1，目标 %2，用时 %3</translation>
    </message>
    <message numerus="yes">
        <source>%n instruction(s)</source>
        <translation>
            <numerusform>%n 条指令</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped. Choose an architecture, or edit, to compile again.</source>
        <translation>已停止。选择架构或进行编辑即可重新编译。</translation>
    </message>
    <message>
        <source>Save the listing</source>
        <translation>保存列表</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>What is listed</source>
        <translation>列出的内容</translation>
    </message>
    <message>
        <source>Why nothing is listed</source>
        <translation>为何没有列出内容</translation>
    </message>
    <message>
        <source>Kernel file</source>
        <translation>内核文件</translation>
    </message>
    <message>
        <source>The file whose kernels are listed</source>
        <translation>列出其内核的文件</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>架构</translation>
    </message>
    <message>
        <source>What to compile for; no such card need be in this machine</source>
        <translation>编译目标；本机无需有此类显卡</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>generation: cards</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Kind of code</source>
        <translation>代码种类</translation>
    </message>
    <message>
        <source>What the machine runs, or what is made on the way there</source>
        <translation>机器运行的代码，或编译途中生成的代码</translation>
    </message>
    <message>
        <source>SASS</source>
        <translation>SASS</translation>
    </message>
    <message>
        <source>PTX</source>
        <translation>PTX</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find in the listing</source>
        <translation>在列表中查找</translation>
    </message>
    <message>
        <source>Compiling</source>
        <translation>正在编译</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>指令</translation>
    </message>
    <message>
        <source>Copy Instructions</source>
        <translation>复制指令</translation>
    </message>
    <message>
        <source>Save Listing As…</source>
        <translation>列表另存为…</translation>
    </message>
    <message>
        <source>Find in the Listing</source>
        <translation>在列表中查找</translation>
    </message>
    <message>
        <source>Find Next in the Listing</source>
        <translation>在列表中查找下一个</translation>
    </message>
    <message>
        <source>Find Previous in the Listing</source>
        <translation>在列表中查找上一个</translation>
    </message>
    <message>
        <source>Lines of Source in the Listing</source>
        <translation>在列表中显示源代码行</translation>
    </message>
    <message>
        <source>Compiling…</source>
        <translation>正在编译…</translation>
    </message>
    <message>
        <source>Compiling for %1…</source>
        <translation>正在为 %1 编译…</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::MainWindow</name>
    <message>
        <source>CUDA Agent Workbench</source>
        <translation>CUDA Agent Workbench</translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Best: turn %1, %2</source>
        <translation>最佳：第 %1 轮，%2</translation>
    </message>
    <message>
        <source>%1 - CUDA Agent Workbench</source>
        <translation>%1 - CUDA Agent Workbench</translation>
    </message>
    <message>
        <source>There is no session in %1: a session folder holds a file session.jsonl.</source>
        <translation>%1 中没有会话：会话文件夹应包含文件 session.jsonl。</translation>
    </message>
    <message>
        <source>Open Task</source>
        <translation>打开任务</translation>
    </message>
    <message>
        <source>PyTorch tasks (*.py)</source>
        <translation>PyTorch 任务 (*.py)</translation>
    </message>
    <message>
        <source>Open Session Folder</source>
        <translation>打开会话文件夹</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>暂无</translation>
    </message>
    <message>
        <source>None are installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1（%2）</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>暂停(&amp;P)</translation>
    </message>
    <message>
        <source>S&amp;tep</source>
        <translation>单步(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>停止(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Check Kernel</source>
        <translation>检查内核(&amp;C)</translation>
    </message>
    <message>
        <source>Check &amp;Quickly</source>
        <translation>快速检查(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Close Session</source>
        <translation>关闭会话(&amp;C)</translation>
    </message>
    <message>
        <source>Optimize</source>
        <translation>优化</translation>
    </message>
    <message>
        <source>Replay</source>
        <translation>回放</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Restore &amp;Default Layout</source>
        <translation>恢复默认布局(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Presentation Mode</source>
        <translation>演示模式(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Open Task…</source>
        <translation>打开任务(&amp;O)…</translation>
    </message>
    <message>
        <source>Open &amp;Session…</source>
        <translation>打开会话(&amp;S)…</translation>
    </message>
    <message>
        <source>Sample &amp;Tasks</source>
        <translation>示例任务(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Recent Tasks</source>
        <translation>最近的任务(&amp;R)</translation>
    </message>
    <message>
        <source>Recent S&amp;essions</source>
        <translation>最近的会话(&amp;E)</translation>
    </message>
    <message>
        <source>Show Session &amp;Folder</source>
        <translation>显示会话文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Session</source>
        <translation>会话(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>P&amp;anes</source>
        <translation>窗格(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>配色(&amp;C)</translation>
    </message>
    <message>
        <source>As the Desktop</source>
        <translation>跟随桌面</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Colours: %1</source>
        <translation>配色：%1</translation>
    </message>
    <message>
        <source>&amp;Larger Text</source>
        <translation>放大文字(&amp;L)</translation>
    </message>
    <message>
        <source>S&amp;maller Text</source>
        <translation>缩小文字(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Normal Text Size</source>
        <translation>标准文字大小(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Fold Long Output…</source>
        <translation>折叠长输出(&amp;F)…</translation>
    </message>
    <message>
        <source>Fold Long Output</source>
        <translation>折叠长输出</translation>
    </message>
    <message>
        <source>Lines of a card before it is folded:</source>
        <translation>卡片折叠前显示的行数：</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Command Palette…</source>
        <translation>命令面板(&amp;C)…</translation>
    </message>
    <message>
        <source>&amp;About</source>
        <translation>关于(&amp;A)</translation>
    </message>
    <message>
        <source>About CUDA Agent Workbench</source>
        <translation>关于 CUDA Agent Workbench</translation>
    </message>
    <message>
        <source>&lt;b&gt;CUDA Agent Workbench %1&lt;/b&gt;&lt;p&gt;Hand over a PyTorch module, get back a CUDA kernel that is verified and faster.&lt;/p&gt;&lt;p&gt;Free software under the GNU General Public License, version 3 or later.&lt;/p&gt;</source>
        <translation>&lt;b&gt;CUDA Agent Workbench %1&lt;/b&gt;&lt;p&gt;交给它一个 PyTorch 模块，得到一个经过验证且更快的 CUDA 内核。&lt;/p&gt;&lt;p&gt;自由软件，遵循 GNU 通用公共许可证第 3 版或更高版本。&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Perspectives</source>
        <translation>透视图</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Best device</source>
        <translation>最佳设备</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Policy: who writes the kernels</source>
        <translation>策略：由谁编写内核</translation>
    </message>
    <message>
        <source>Planner</source>
        <translation>规划器</translation>
    </message>
    <message>
        <source>Numerics</source>
        <translation>数值模式</translation>
    </message>
    <message>
        <source>Default numerics</source>
        <translation>默认数值模式</translation>
    </message>
    <message>
        <source>TF32</source>
        <translation>TF32</translation>
    </message>
    <message>
        <source>As published</source>
        <translation>按论文发布</translation>
    </message>
    <message>
        <source> turns</source>
        <translation> 轮</translation>
    </message>
    <message>
        <source>Turns at most</source>
        <translation>最多轮数</translation>
    </message>
    <message>
        <source>Also time torch.compile with max-autotune</source>
        <translation>同时对 max-autotune 模式的 torch.compile 计时</translation>
    </message>
    <message>
        <source>Busy</source>
        <translation>忙碌</translation>
    </message>
    <message>
        <source>Language Model &amp;Endpoint…</source>
        <translation>语言模型端点(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Budget…</source>
        <translation>预算(&amp;B)…</translation>
    </message>
    <message>
        <source>Tools That &amp;Ask First…</source>
        <translation>需先询问的工具(&amp;A)…</translation>
    </message>
    <message>
        <source>S&amp;kills of the Agent…</source>
        <translation>智能体的技能(&amp;K)…</translation>
    </message>
    <message>
        <source>Session That Is Followed</source>
        <translation>要跟随的会话</translation>
    </message>
    <message>
        <source>Language model</source>
        <translation>语言模型</translation>
    </message>
    <message>
        <source>Re&amp;member What Works</source>
        <translation>记住有效的做法(&amp;M)</translation>
    </message>
    <message>
        <source>Sessions add to a record of what worked on which operators and device, and begin with what it offers</source>
        <translation>会话把在哪类算子、哪个设备上有效的做法记录下来，并从记录所给出的内容开始</translation>
    </message>
    <message>
        <source>&amp;Devices in Quarantine…</source>
        <translation>被隔离的设备(&amp;D)…</translation>
    </message>
    <message>
        <source>Run &amp;Options</source>
        <translation>运行选项(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Published Rules</source>
        <translation>论文规则(&amp;P)</translation>
    </message>
    <message>
        <source>Modules compute by their own kernels; cuBLAS for products and cuDNN for convolutions are allowed</source>
        <translation>模块用自己的内核计算；乘积可用 cuBLAS，卷积可用 cuDNN</translation>
    </message>
    <message>
        <source>&amp;KernelBench Rules</source>
        <translation>KernelBench 规则(&amp;K)</translation>
    </message>
    <message>
        <source>Modules may use what that benchmark allows; what looks odd becomes a remark</source>
        <translation>模块可使用该基准允许的一切；可疑之处会成为备注</translation>
    </message>
    <message>
        <source>Time &amp;max-autotune Too</source>
        <translation>也为 max-autotune 计时(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Attempts…</source>
        <translation>尝试次数(&amp;A)…</translation>
    </message>
    <message>
        <source>1 attempt</source>
        <translation>1 次尝试</translation>
    </message>
    <message>
        <source> attempts</source>
        <translation> 次尝试</translation>
    </message>
    <message>
        <source>Attempts at the task, of which the best is taken</source>
        <translation>对任务的尝试次数，取其最佳</translation>
    </message>
    <message>
        <source>Options</source>
        <translation>选项</translation>
    </message>
    <message numerus="yes">
        <source>%n more device(s) are in quarantine.</source>
        <translation>
            <numerusform>另有 %n 个设备被隔离。</numerusform>
        </translation>
    </message>
    <message>
        <source>In quarantine: %1</source>
        <translation>已隔离：%1</translation>
    </message>
    <message>
        <source>A device of this kind is in quarantine</source>
        <translation>此类设备中有一个被隔离</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Trained model</source>
        <translation>训练好的模型</translation>
    </message>
    <message>
        <source>Tra&amp;ined Model…</source>
        <translation>训练好的模型(&amp;I)…</translation>
    </message>
    <message>
        <source>Settings of the Po&amp;licy…</source>
        <translation>策略的设置(&amp;L)…</translation>
    </message>
    <message>
        <source>The planner has no settings</source>
        <translation>规划器没有设置</translation>
    </message>
    <message>
        <source>Endpoint of the language model</source>
        <translation>语言模型的端点</translation>
    </message>
    <message>
        <source>Weights and temperature of the trained model (now: the default weights)</source>
        <translation>训练好的模型的权重和温度（现在：默认权重）</translation>
    </message>
    <message>
        <source>Weights and temperature of the trained model (now: %1)</source>
        <translation>训练好的模型的权重和温度（现在：%1）</translation>
    </message>
    <message>
        <source>The session that is followed (none yet)</source>
        <translation>所跟随的会话（尚无）</translation>
    </message>
    <message>
        <source>The session that is followed (now: %1)</source>
        <translation>所跟随的会话（现在：%1）</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::MessageBar</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>关闭此消息</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::MessageLine</name>
    <message>
        <source>Message to the agent</source>
        <translation>给智能体的消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter begins a new line</source>
        <translation>Enter 发送，Shift+Enter 换行</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::MetricsModel</name>
    <message>
        <source>General</source>
        <translation>常规</translation>
    </message>
    <message>
        <source>%1 (%2 not finite)</source>
        <translation>%1（%2 非有限）</translation>
    </message>
    <message>
        <source>%1: %2 values</source>
        <translation>%1：%2 个值</translation>
    </message>
    <message>
        <source>Metric</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>值</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::PermissionsDialog</name>
    <message>
        <source>Tools That Ask First</source>
        <translation>需先询问的工具</translation>
    </message>
    <message>
        <source>All that the agent does runs in a sandbox without network, in the session&apos;s own folder. Tools with a check mark wait all the same until you allow or refuse the call.</source>
        <translation>智能体所做的一切都在无网络的沙箱中、在会话自己的文件夹里运行。打勾的工具仍会等待您允许或拒绝调用。</translation>
    </message>
    <message>
        <source>Tools of the agent</source>
        <translation>智能体的工具</translation>
    </message>
    <message>
        <source>Permission</source>
        <translation>许可</translation>
    </message>
    <message>
        <source>Ask for &amp;Changes</source>
        <translation>更改时询问(&amp;C)</translation>
    </message>
    <message>
        <source>All tools that change files or run programs ask first</source>
        <translation>所有更改文件或运行程序的工具都先询问</translation>
    </message>
    <message>
        <source>&amp;Never Ask</source>
        <translation>从不询问(&amp;N)</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::PermissionsModel</name>
    <message>
        <source>Ask</source>
        <translation>询问</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>始终允许</translation>
    </message>
    <message>
        <source>%1 asks first</source>
        <translation>%1 会先询问</translation>
    </message>
    <message>
        <source>%1 is always allowed</source>
        <translation>%1 始终允许</translation>
    </message>
    <message>
        <source>Tool</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>Permission</source>
        <translation>许可</translation>
    </message>
    <message>
        <source>What the agent reads of it</source>
        <translation>智能体读到的说明</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::Plot</name>
    <message>
        <source>Show All</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>Export Plot…</source>
        <translation>导出图表…</translation>
    </message>
    <message>
        <source>Copy Image</source>
        <translation>复制图像</translation>
    </message>
    <message>
        <source>Zoom In</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Zoom Out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Pan Left</source>
        <translation>向左平移</translation>
    </message>
    <message>
        <source>Pan Right</source>
        <translation>向右平移</translation>
    </message>
    <message>
        <source>Pan Up</source>
        <translation>向上平移</translation>
    </message>
    <message>
        <source>Pan Down</source>
        <translation>向下平移</translation>
    </message>
    <message>
        <source>%1: %2
%3: %4</source>
        <translation>%1：%2
%3：%4</translation>
    </message>
    <message>
        <source>x</source>
        <translation>x</translation>
    </message>
    <message>
        <source>y</source>
        <translation>y</translation>
    </message>
    <message numerus="yes">
        <source>%n curve(s), x from %1 to %2, y from %3 to %4</source>
        <translation>
            <numerusform>%n 条曲线，x 从 %1 到 %2，y 从 %3 到 %4</numerusform>
        </translation>
    </message>
    <message>
        <source>Export Plot</source>
        <translation>导出图表</translation>
    </message>
    <message>
        <source>PNG image (*.png);;SVG drawing (*.svg);;PDF document (*.pdf);;CSV values (*.csv)</source>
        <translation>PNG 图像 (*.png);;SVG 图形 (*.svg);;PDF 文档 (*.pdf);;CSV 数值 (*.csv)</translation>
    </message>
    <message>
        <source>%1 could not be written. Choose a folder that you may write to and a name that ends in .png, .svg, .pdf or .csv.</source>
        <translation>无法写入 %1。请选择可写的文件夹，并使用以 .png、.svg、.pdf 或 .csv 结尾的名称。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::PlotCell</name>
    <message>
        <source>Plot of %1</source>
        <translation>%1 的图表</translation>
    </message>
    <message>
        <source>No values of %1 in the checked runs.</source>
        <translation>选中的训练运行中没有 %1 的值。</translation>
    </message>
    <message>
        <source>%1 (raw)</source>
        <translation>%1（原始）</translation>
    </message>
    <message>
        <source>%1: not finite</source>
        <translation>%1：非有限值</translation>
    </message>
    <message>
        <source>not finite: %1</source>
        <translation>非有限值：%1</translation>
    </message>
    <message>
        <source>without a time: %1</source>
        <translation>没有时间：%1</translation>
    </message>
    <message>
        <source>without samples: %1</source>
        <translation>没有样本数：%1</translation>
    </message>
    <message>
        <source>%1 (raw %2)</source>
        <translation>%1（原始 %2）</translation>
    </message>
    <message>
        <source>%1 (not finite)</source>
        <translation>%1（非有限值）</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt; at %2 = %3 &amp;nbsp; %4</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;，%2 = %3 &amp;nbsp; %4</translation>
    </message>
    <message>
        <source>without tokens: %1</source>
        <translation>没有词元数：%1</translation>
    </message>
    <message>
        <source>in %1</source>
        <translation>处于 %1</translation>
    </message>
    <message>
        <source>Stage %1</source>
        <translation>阶段 %1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::PlotGrid</name>
    <message>
        <source>Plots</source>
        <translation>图表</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ProfileModel</name>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>−%1 %</source>
        <translation>−%1 %</translation>
    </message>
    <message>
        <source>+%1 %</source>
        <translation>+%1 %</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>counted bytes</source>
        <translation>计数字节</translation>
    </message>
    <message>
        <source>counted operations</source>
        <translation>计数运算</translation>
    </message>
    <message>
        <source>achieved bandwidth</source>
        <translation>实际带宽</translation>
    </message>
    <message>
        <source>achieved rate</source>
        <translation>实际速率</translation>
    </message>
    <message>
        <source>part of the limit (arithmetic)</source>
        <translation>极限占比（算术）</translation>
    </message>
    <message>
        <source>part of the limit (memory)</source>
        <translation>极限占比（内存）</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>kernel: fact</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>registers a thread</source>
        <translation>每线程寄存器</translation>
    </message>
    <message>
        <source>spilled bytes</source>
        <translation>溢出字节</translation>
    </message>
    <message>
        <source>shared memory</source>
        <translation>共享内存</translation>
    </message>
    <message>
        <source>stack</source>
        <translation>栈</translation>
    </message>
    <message>
        <source>occupancy</source>
        <translation>占用率</translation>
    </message>
    <message>
        <source>occupancy limited by</source>
        <translation>占用率受限于</translation>
    </message>
    <message>
        <source>Fact</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Candidate</source>
        <translation>候选</translation>
    </message>
    <message>
        <source>Best stock</source>
        <translation>最佳基线</translation>
    </message>
    <message>
        <source>Best stock (%1)</source>
        <translation>最佳基线（%1）</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ProfilePane</name>
    <message>
        <source>Kernel profile</source>
        <translation>内核性能分析</translation>
    </message>
    <message>
        <source>The profile of turn %1 in the log cannot be read.</source>
        <translation>日志中第 %1 轮的性能分析无法读取。</translation>
    </message>
    <message>
        <source>Turn %1 was profiled without a result: %2</source>
        <translation>第 %1 轮的性能分析没有结果：%2</translation>
    </message>
    <message>
        <source>The candidate of turn %1 has not been profiled.</source>
        <translation>第 %1 轮的候选尚未做性能分析。</translation>
    </message>
    <message>
        <source>A roofline of each kernel with DRAM, L2 and L1, its occupancy and what to do next are shown here once a candidate is profiled: press Profile, or let the agent call its tool Profile.</source>
        <translation>候选做过性能分析后，这里显示每个内核在 DRAM、L2 和 L1 上的屋顶线、占用率以及下一步的建议：请按“性能分析”，或让智能体调用其工具 Profile。</translation>
    </message>
    <message>
        <source>Show Turn %1, Which Has a Profile</source>
        <translation>显示有性能分析的第 %1 轮</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Turn %1, whose files are the same</source>
        <translation>第 %1 轮（文件相同）</translation>
    </message>
    <message>
        <source>a call takes %1</source>
        <translation>一次调用需 %1</translation>
    </message>
    <message>
        <source>nothing runs in %1 of it</source>
        <translation>其中 %1 的时间没有任何运行</translation>
    </message>
    <message>
        <source>Times by the host&apos;s clock, which say nothing about a GPU; bytes and operations as the plan counts them, ceilings measured on this host.</source>
        <translation>时间取自主机时钟，不能说明 GPU 的情况；字节与运算按计划计数，上限在本机实测。</translation>
    </message>
    <message>
        <source>Source: %1.</source>
        <translation>来源：%1。</translation>
    </message>
    <message>
        <source>Findings (%1)</source>
        <translation>发现（%1）</translation>
    </message>
    <message>
        <source>Kernels (%1)</source>
        <translation>内核（%1）</translation>
    </message>
    <message>
        <source>Notes (%1)</source>
        <translation>说明（%1）</translation>
    </message>
    <message>
        <source>The rules read hardware counters, which the CPU device does not have. Kernels says where the time goes.</source>
        <translation>规则读取硬件计数器，而 CPU 设备没有。时间的去向见“内核”。</translation>
    </message>
    <message>
        <source>The rules find nothing to remark. Notes, where there are any, say which counters could not be read.</source>
        <translation>规则没有发现需要指出的问题。若有说明，其中写明哪些计数器无法读取。</translation>
    </message>
    <message>
        <source>%1, %2 (%3)</source>
        <comment>kernel, time, share</comment>
        <translation>%1，%2（%3）</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>kernel, time</comment>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>All kernels</source>
        <translation>全部内核</translation>
    </message>
    <message>
        <source>Whole call, %1</source>
        <translation>整次调用，%1</translation>
    </message>
    <message>
        <source>No arithmetic was counted here, so there is no arithmetic intensity to draw it at. Speed of Light says how near it comes to each ceiling.</source>
        <translation>这里没有计到运算，因此没有可用来绘制的算术强度。“光速”显示它离每个上限有多近。</translation>
    </message>
    <message>
        <source>The profile knows neither bytes nor operations of this.</source>
        <translation>性能分析既不知道它的字节数，也不知道它的运算数。</translation>
    </message>
    <message>
        <source>Measure where the time of the shown turn&apos;s candidate goes; an engineer&apos;s turn in the log</source>
        <translation>测量所示轮次候选的时间去向；在日志中记为工程师的一轮</translation>
    </message>
    <message>
        <source>Where the values come from</source>
        <translation>数值来源</translation>
    </message>
    <message>
        <source>Roofline and speed of light</source>
        <translation>屋顶线与光速</translation>
    </message>
    <message>
        <source>Roofline</source>
        <translation>屋顶线</translation>
    </message>
    <message>
        <source>Speed of Light</source>
        <translation>光速</translation>
    </message>
    <message>
        <source>How to get a profile</source>
        <translation>如何得到性能分析</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>The kernel that is drawn</source>
        <translation>所绘制的内核</translation>
    </message>
    <message>
        <source>What the profiler is at</source>
        <translation>性能分析器正在做什么</translation>
    </message>
    <message>
        <source>Profiling</source>
        <translation>正在分析</translation>
    </message>
    <message>
        <source>Findings, the largest expected gain first</source>
        <translation>发现，预期收益最大的在前</translation>
    </message>
    <message>
        <source>Kernels of one call</source>
        <translation>一次调用的内核</translation>
    </message>
    <message>
        <source>What could not be measured, and why</source>
        <translation>哪些未能测量，以及原因</translation>
    </message>
    <message>
        <source>Findings and kernels</source>
        <translation>发现与内核</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>Kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>说明</translation>
    </message>
    <message>
        <source>Profile Candidate</source>
        <translation>分析候选性能</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>性能分析</translation>
    </message>
    <message>
        <source>Stop Profiling</source>
        <translation>停止性能分析</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Next Kernel</source>
        <translation>下一个内核</translation>
    </message>
    <message>
        <source>Kernel Before</source>
        <translation>上一个内核</translation>
    </message>
    <message>
        <source>Export Roofline…</source>
        <translation>导出屋顶线…</translation>
    </message>
    <message>
        <source>Copy Kernel Table</source>
        <translation>复制内核表</translation>
    </message>
    <message>
        <source>Copy Findings</source>
        <translation>复制发现</translation>
    </message>
    <message>
        <source>Copy Profile as JSON</source>
        <translation>以 JSON 复制性能分析</translation>
    </message>
    <message>
        <source>profiling</source>
        <translation>正在分析性能</translation>
    </message>
    <message>
        <source>Solid ceilings were measured, dashed ones are the data sheet&apos;s.</source>
        <translation>实线上限为实测，虚线为数据手册。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ProgressPane</name>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进展</translation>
    </message>
    <message>
        <source>What speed-ups compare with</source>
        <translation>加速比的比较对象</translation>
    </message>
    <message>
        <source>against eager</source>
        <translation>相对 eager</translation>
    </message>
    <message>
        <source>against torch.compile</source>
        <translation>相对 torch.compile</translation>
    </message>
    <message>
        <source>part of the limit</source>
        <translation>极限占比</translation>
    </message>
    <message>
        <source>Best so far</source>
        <translation>目前最佳</translation>
    </message>
    <message>
        <source>Progress over turns</source>
        <translation>各轮进展</translation>
    </message>
    <message>
        <source>The speed-up of every turn is drawn here, with the milestones of the reward.
Press Run: each verdict adds a point.</source>
        <translation>这里绘制每一轮的加速比以及各级奖励的门槛。
请按“运行”：每次判定都会添加一个点。</translation>
    </message>
    <message>
        <source>best so far</source>
        <translation>目前最佳</translation>
    </message>
    <message>
        <source>Speed-Up Against Eager</source>
        <translation>相对 eager 的加速比</translation>
    </message>
    <message>
        <source>Speed-Up Against torch.compile</source>
        <translation>相对 torch.compile 的加速比</translation>
    </message>
    <message>
        <source>Part of the Limit</source>
        <translation>极限占比</translation>
    </message>
    <message>
        <source>Select Turn Before in Plot</source>
        <translation>在图中选择上一轮</translation>
    </message>
    <message>
        <source>Select Turn After in Plot</source>
        <translation>在图中选择下一轮</translation>
    </message>
    <message>
        <source>Turn %1, by hand</source>
        <translation>第 %1 轮，手工</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>%1: does not compile</source>
        <translation>%1：编译失败</translation>
    </message>
    <message>
        <source>%1: wrong</source>
        <translation>%1：错误</translation>
    </message>
    <message>
        <source>%1: correct, reward %2</source>
        <translation>%1：正确，奖励 %2</translation>
    </message>
    <message>
        <source>%1
%2</source>
        <translation>%1
%2</translation>
    </message>
    <message>
        <source>%1 against eager</source>
        <translation>相对 eager %1</translation>
    </message>
    <message>
        <source>%1 against torch.compile</source>
        <translation>相对 torch.compile %1</translation>
    </message>
    <message>
        <source>%1 of the limit</source>
        <translation>极限的 %1</translation>
    </message>
    <message>
        <source>%1
%2, %3</source>
        <translation>%1
%2，%3</translation>
    </message>
    <message>
        <source>speed-up</source>
        <translation>加速比</translation>
    </message>
    <message>
        <source>wrong or not compiled</source>
        <translation>错误或编译失败</translation>
    </message>
    <message>
        <source>best: turn %1, %2</source>
        <translation>最佳：第 %1 轮，%2</translation>
    </message>
    <message>
        <source>This log has no time to compare with; choose another comparison.</source>
        <translation>此日志没有可供比较的时间；请选择其他比较对象。</translation>
    </message>
    <message>
        <source>no correct candidate yet</source>
        <translation>尚无正确的候选</translation>
    </message>
    <message>
        <source>turn</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>reward %1</source>
        <translation>奖励 %1</translation>
    </message>
    <message>
        <source>1: correct</source>
        <translation>1：正确</translation>
    </message>
    <message>
        <source>2: 5 % faster than eager</source>
        <translation>2：比 eager 快 5 %</translation>
    </message>
    <message>
        <source>3: and 5 % faster than torch.compile</source>
        <translation>3：且比 torch.compile 快 5 %</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::PythonView</name>
    <message>
        <source>Source of the task</source>
        <translation>任务源代码</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::QuarantineDialog</name>
    <message>
        <source>Devices in Quarantine</source>
        <translation>被隔离的设备</translation>
    </message>
    <message>
        <source>A GPU that stays bad after a kernel makes everything that touches it wait for ever. Such a device is put away: no session and no check uses it until it has been tried and is well.</source>
        <translation>GPU 若在某个内核之后一直异常，凡是用到它的程序都会永远等待。这样的设备会被隔离：在试过并确认正常之前，任何会话和检查都不使用它。</translation>
    </message>
    <message>
        <source>No device is in quarantine.</source>
        <translation>没有设备被隔离。</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>&amp;Try and Lift…</source>
        <translation>测试并解除(&amp;T)…</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>停止(&amp;S)</translation>
    </message>
    <message>
        <source>Try %1 now?</source>
        <translation>现在测试 %1？</translation>
    </message>
    <message numerus="yes">
        <source>A small program of its own fills memory of the device and runs a kernel on it, for at most %n second(s). When the device is well, its quarantine is lifted and sessions use it again.</source>
        <translation>
            <numerusform>一个独立的小程序会填充该设备的内存并在其上运行一个内核，最多 %n 秒。设备正常时会解除隔离，会话便可再次使用它。</numerusform>
        </translation>
    </message>
    <message>
        <source>&amp;Try and Lift</source>
        <translation>测试并解除(&amp;T)</translation>
    </message>
    <message>
        <source>trying %1: %2 s of at most %3 s</source>
        <translation>正在测试 %1：已用 %2 秒，最多 %3 秒</translation>
    </message>
    <message>
        <source>%1 is well; its quarantine is lifted.</source>
        <translation>%1 正常，隔离已解除。</translation>
    </message>
    <message>
        <source>%1 is well; it was in no quarantine.</source>
        <translation>%1 正常，原本就未被隔离。</translation>
    </message>
    <message>
        <source>Stopped; %1 stays in quarantine.</source>
        <translation>已停止；%1 仍处于隔离中。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::QuarantineModel</name>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Since</source>
        <translation>起始时间</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::QuarantineWatch</name>
    <message>
        <source>an unknown time</source>
        <translation>未知时间</translation>
    </message>
    <message>
        <source>%1 is in quarantine since %2: %3. Nothing runs on it until it has been tried and is well.</source>
        <translation>%1 自 %2 起被隔离：%3。在试过并确认正常之前，不会在其上运行任何内容。</translation>
    </message>
    <message>
        <source>%1 is in quarantine since %2 (%3), and nothing runs on it. Try the device and lift its quarantine, or choose another device.</source>
        <translation>%1 自 %2 起被隔离（%3），不会在其上运行任何内容。请测试该设备并解除隔离，或选择另一个设备。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::RejectionsModel</name>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>候选</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::RolloutsModel</name>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>奖励</translation>
    </message>
    <message>
        <source>Turns</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>End</source>
        <translation>结束</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::RoofPlot</name>
    <message>
        <source>Hierarchical roofline</source>
        <translation>分层屋顶线</translation>
    </message>
    <message>
        <source>arithmetic intensity, FLOP/byte</source>
        <translation>算术强度，FLOP/字节</translation>
    </message>
    <message>
        <source>performance</source>
        <translation>性能</translation>
    </message>
    <message>
        <source>Next Point</source>
        <translation>下一个点</translation>
    </message>
    <message>
        <source>Point Before</source>
        <translation>上一个点</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>kernel, memory</comment>
        <translation>%1，%2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::RooflinePane</name>
    <message>
        <source>Roofline and profile</source>
        <translation>屋顶线与性能分析</translation>
    </message>
    <message>
        <source>Roofline</source>
        <translation>屋顶线</translation>
    </message>
    <message>
        <source>The device&apos;s roofline with one point a turn is drawn here.
Press Run: each correct candidate is timed and adds a point.</source>
        <translation>这里绘制设备的屋顶线，每轮一个点。
请按“运行”：每个正确的候选都会计时并添加一个点。</translation>
    </message>
    <message>
        <source>Where the values come from</source>
        <translation>数值来源</translation>
    </message>
    <message>
        <source>What the shown turn reached</source>
        <translation>所示轮次达到的性能</translation>
    </message>
    <message>
        <source>Copy Profile Table</source>
        <translation>复制性能分析表</translation>
    </message>
    <message>
        <source>Select Timed Turn Before</source>
        <translation>选择上一个已计时轮次</translation>
    </message>
    <message>
        <source>Select Timed Turn After</source>
        <translation>选择下一个已计时轮次</translation>
    </message>
    <message>
        <source>The log does not say how many bytes the task moves.</source>
        <translation>日志没有说明任务搬运多少字节。</translation>
    </message>
    <message>
        <source>No products or convolutions to count: only the bandwidth is drawn.</source>
        <translation>没有可计数的矩阵乘或卷积：仅绘制带宽。</translation>
    </message>
    <message>
        <source>The log has no bandwidth of this device.</source>
        <translation>日志中没有此设备的带宽。</translation>
    </message>
    <message>
        <source>Ceiling from the verdict&apos;s limit.</source>
        <translation>上限取自判定中的极限。</translation>
    </message>
    <message>
        <source>fp32 %1</source>
        <translation>fp32 %1</translation>
    </message>
    <message>
        <source>turns</source>
        <translation>各轮</translation>
    </message>
    <message>
        <source>arithmetic intensity, FLOP/byte</source>
        <translation>算术强度，FLOP/字节</translation>
    </message>
    <message>
        <source>achieved rate</source>
        <translation>实际速率</translation>
    </message>
    <message>
        <source>turn</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>achieved bandwidth</source>
        <translation>实际带宽</translation>
    </message>
    <message>
        <source>turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>memory copy of this device: %1</source>
        <translation>此设备的内存拷贝：%1</translation>
    </message>
    <message>
        <source>best stock (%1): %2</source>
        <translation>最佳基线（%1）：%2</translation>
    </message>
    <message>
        <source>%1: %2
%3</source>
        <translation>%1：%2
%3</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Counted bytes and operations, no hardware counters.</source>
        <translation>按计数的字节和运算，不含硬件计数器。</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>memory level: bandwidth</comment>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>memory %1</source>
        <translation>内存 %1</translation>
    </message>
    <message>
        <source>TF32 %1</source>
        <translation>TF32 %1</translation>
    </message>
    <message>
        <source>16-bit %1</source>
        <translation>16位 %1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::RunStrip</name>
    <message>
        <source>Progress of the run</source>
        <translation>运行的进度</translation>
    </message>
    <message>
        <source>Start a training run, or add the folder of one: it is shown and steered from here, also on another machine.</source>
        <translation>启动一个训练运行，或添加一个运行文件夹：可以在这里查看和控制它，在另一台机器上也可以。</translation>
    </message>
    <message>
        <source>Its trainer says nothing of itself; its curves are followed.</source>
        <translation>它的训练程序没有说明自己的状态；曲线会持续更新。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::RunsModel</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分钟</translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation>%1 小时</translation>
    </message>
    <message>
        <source>%1 d</source>
        <translation>%1 天</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>读取中</translation>
    </message>
    <message>
        <source>gone</source>
        <translation>已消失</translation>
    </message>
    <message>
        <source>no values yet</source>
        <translation>暂无数值</translation>
    </message>
    <message>
        <source>live</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>quiet</source>
        <translation>静止</translation>
    </message>
    <message>
        <source>Lines and records that could not be read: %1</source>
        <translation>无法读取的行和记录：%1</translation>
    </message>
    <message>
        <source>run %1, %2</source>
        <translation>训练运行 %1，%2</translation>
    </message>
    <message>
        <source>%1, %2 unreadable</source>
        <translation>%1，%2 条无法读取</translation>
    </message>
    <message>
        <source>Time since the last write</source>
        <translation>距上次写入的时间</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>训练运行</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SessionDocument</name>
    <message numerus="yes">
        <source>%n event(s) are of types that this program does not know and are left out; a newer one shows them.</source>
        <translation>
            <numerusform>有 %n 个事件的类型是本程序不认识的，已略过；较新版本的程序可以显示。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SessionRunner</name>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SessionView</name>
    <message>
        <source>Trace</source>
        <translation>轨迹</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>Roofline and Profile</source>
        <translation>屋顶线与性能分析</translation>
    </message>
    <message>
        <source>Build Log</source>
        <translation>构建日志</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进展</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>正在读取 %1</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>准备中</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Pausing after this turn</source>
        <translation>本轮结束后暂停</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>载入中</translation>
    </message>
    <message>
        <source>Not started</source>
        <translation>未开始</translation>
    </message>
    <message>
        <source>Interrupted; Run resumes it</source>
        <translation>已中断；按“运行”可继续</translation>
    </message>
    <message>
        <source>Ended: %1</source>
        <translation>已结束：%1</translation>
    </message>
    <message>
        <source>Waiting for your permission</source>
        <translation>等待您的许可</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>%1 waits for your permission</source>
        <translation>%1 正在等待您的许可</translation>
    </message>
    <message>
        <source>The agent reads messages while its session runs</source>
        <translation>会话运行时智能体才会读消息</translation>
    </message>
    <message>
        <source>Message to the agent, read when you run on</source>
        <translation>给智能体的消息，继续运行时读取</translation>
    </message>
    <message>
        <source>Message to the agent, read before its next turn</source>
        <translation>给智能体的消息，下一轮之前读取</translation>
    </message>
    <message>
        <source>looking for the key of the endpoint</source>
        <translation>正在查找端点的密钥</translation>
    </message>
    <message>
        <source>Try and Lift…</source>
        <translation>测试并解除…</translation>
    </message>
    <message>
        <source>%1, attempt %2</source>
        <translation>%1，尝试 %2</translation>
    </message>
    <message>
        <source>Several attempts at once read no messages</source>
        <translation>多次尝试同时进行时不读取消息</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>尝试</translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n 个 GPU</numerusform>
        </translation>
    </message>
    <message>
        <source>the CPU</source>
        <translation>CPU</translation>
    </message>
    <message numerus="yes">
        <source>%n attempt(s), each with a budget of its own; %1 at once on %2.</source>
        <translation>
            <numerusform>%n 次尝试，各有自己的预算；同时进行 %1 次，在 %2 上。</numerusform>
        </translation>
    </message>
    <message>
        <source>Several attempts at once cannot wait for your permission, and these tools ask first: %1. Choose one attempt, or let no tool ask (Session, Tools That Ask First).</source>
        <translation>多次尝试同时进行时无法等待您的许可，而这些工具要先询问：%1。请选择一次尝试，或让所有工具都不询问（会话，先询问的工具）。</translation>
    </message>
    <message>
        <source>Running; %1 of %2 attempts are over</source>
        <translation>运行中；%2 次尝试中已有 %1 次结束</translation>
    </message>
    <message>
        <source>Comparing the attempts</source>
        <translation>正在比较各次尝试</translation>
    </message>
    <message>
        <source>Ended: attempt %1 is the best</source>
        <translation>已结束：尝试 %1 最佳</translation>
    </message>
    <message>
        <source>Ended without a correct candidate</source>
        <translation>已结束，没有正确的候选</translation>
    </message>
    <message>
        <source>Kernel Profile</source>
        <translation>内核性能分析</translation>
    </message>
    <message>
        <source>There is no candidate to profile yet</source>
        <translation>还没有可分析的候选</translation>
    </message>
    <message>
        <source>Only plan candidates are profiled: a module launches on its own in PyTorch&apos;s process</source>
        <translation>只分析计划候选：模块在 PyTorch 的进程中自行启动内核</translation>
    </message>
    <message>
        <source>The engine is at other work</source>
        <translation>引擎正在做其他工作</translation>
    </message>
    <message>
        <source>Machine Code</source>
        <translation>机器代码</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SetColumns</name>
    <message>
        <source>Split</source>
        <translation>划分</translation>
    </message>
    <message>
        <source>train, validation, held_out (combinations that training never sees) or outer (operators that training never sees)</source>
        <translation>train、validation、held_out（训练从未见过的组合）或 outer（训练从未见过的算子）</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Why the candidate is no task</source>
        <translation>该候选为何没有成为任务</translation>
    </message>
    <message>
        <source>Stage</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>How far the candidate came</source>
        <translation>该候选走到了哪一步</translation>
    </message>
    <message>
        <source>Operators that forward() calls, one for each call</source>
        <translation>forward() 调用的算子，每次调用一个</translation>
    </message>
    <message>
        <source>Operators</source>
        <translation>算子数</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Dtype</source>
        <translation>数据类型</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>The task computes gradients as well</source>
        <translation>该任务还计算梯度</translation>
    </message>
    <message>
        <source>Eager (ms)</source>
        <translation>eager（毫秒）</translation>
    </message>
    <message>
        <source>Milliseconds a call of PyTorch&apos;s eager mode takes</source>
        <translation>PyTorch eager 模式一次调用的毫秒数</translation>
    </message>
    <message>
        <source>Compiled (ms)</source>
        <translation>编译后（毫秒）</translation>
    </message>
    <message>
        <source>Milliseconds a call of torch.compile&apos;s model takes</source>
        <translation>torch.compile 的模型一次调用的毫秒数</translation>
    </message>
    <message>
        <source>Compiled over eager</source>
        <translation>编译相对 eager</translation>
    </message>
    <message>
        <source>How many times as fast as eager torch.compile&apos;s model is</source>
        <translation>torch.compile 的模型是 eager 的多少倍快</translation>
    </message>
    <message>
        <source>Estimated (ms)</source>
        <translation>估计（毫秒）</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>At most in use beside inputs and parameters</source>
        <translation>除输入和参数外最多占用</translation>
    </message>
    <message>
        <source>Operations</source>
        <translation>运算次数</translation>
    </message>
    <message>
        <source>Arithmetic operations a call</source>
        <translation>每次调用的算术运算次数</translation>
    </message>
    <message>
        <source>Difficulty</source>
        <translation>难度</translation>
    </message>
    <message>
        <source>Detail</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Bytes moved</source>
        <translation>搬运字节数</translation>
    </message>
    <message>
        <source>Operator names</source>
        <translation>算子名称</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SkillsDialog</name>
    <message>
        <source>Skills of the Agent</source>
        <translation>智能体的技能</translation>
    </message>
    <message>
        <source>Skills</source>
        <translation>技能</translation>
    </message>
    <message>
        <source>&amp;New Skill…</source>
        <translation>新建技能(&amp;N)…</translation>
    </message>
    <message>
        <source>&amp;Copy to Mine</source>
        <translation>复制为我的技能(&amp;C)</translation>
    </message>
    <message>
        <source>A skill of yours with the same name replaces the built-in one</source>
        <translation>您的同名技能会取代内置技能</translation>
    </message>
    <message>
        <source>Show &amp;Folder</source>
        <translation>显示文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>Read &amp;Again</source>
        <translation>重新读取(&amp;A)</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Files of the skill</source>
        <translation>技能的文件</translation>
    </message>
    <message>
        <source>&amp;Save File</source>
        <translation>保存文件(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Discard Changes</source>
        <translation>放弃更改(&amp;D)</translation>
    </message>
    <message>
        <source>C&amp;lose</source>
        <translation>关闭(&amp;L)</translation>
    </message>
    <message>
        <source>Text of %1</source>
        <translation>%1 的文本</translation>
    </message>
    <message>
        <source>Saved. Sessions that start from now on read it.</source>
        <translation>已保存。此后开始的会话会读取它。</translation>
    </message>
    <message>
        <source>This copy is yours to edit, and replaces the built-in skill.</source>
        <translation>此副本可由您编辑，并取代内置技能。</translation>
    </message>
    <message>
        <source>New Skill</source>
        <translation>新建技能</translation>
    </message>
    <message>
        <source>Name, in small letters, digits and hyphens:</source>
        <translation>名称，由小写字母、数字和连字符组成：</translation>
    </message>
    <message numerus="yes">
        <source>Save what you have changed in %n file(s)?</source>
        <translation>
            <numerusform>是否保存 %n 个文件中的更改？</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SkillsModel</name>
    <message>
        <source>Yours</source>
        <translation>我的</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>内置</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s)</source>
        <translation>
            <numerusform>%n 个问题</numerusform>
        </translation>
    </message>
    <message>
        <source>In use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>In use, replaces another</source>
        <translation>使用中，取代了另一个</translation>
    </message>
    <message>
        <source>Skill</source>
        <translation>技能</translation>
    </message>
    <message>
        <source>From</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SpeedChart</name>
    <message>
        <source>Speed of light</source>
        <translation>光速</translation>
    </message>
    <message>
        <source>%1 of the data sheet</source>
        <translation>数据手册的 %1</translation>
    </message>
    <message>
        <source>of the measured ceiling; dotted: of the data sheet</source>
        <translation>占实测上限；虚线：占数据手册</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::StageBar</name>
    <message>
        <source>Progress of the synthesis</source>
        <translation>合成的进度</translation>
    </message>
    <message>
        <source>%1 of %2 accepted</source>
        <translation>已接受 %1 / %2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SynthesisDialog</name>
    <message>
        <source>New Synthesis</source>
        <translation>新建合成</translation>
    </message>
    <message>
        <source>a recipe, such as set.toml</source>
        <translation>配方，例如 set.toml</translation>
    </message>
    <message>
        <source>where the set and all that leads to it go</source>
        <translation>任务集及其产生过程的存放位置</translation>
    </message>
    <message>
        <source>as the recipe says</source>
        <translation>按配方</translation>
    </message>
    <message>
        <source>the recipe&apos;s</source>
        <translation>按配方</translation>
    </message>
    <message>
        <source>as many as the recipe says</source>
        <translation>按配方的数量</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>&amp;Recipe</source>
        <translation>配方(&amp;R)</translation>
    </message>
    <message>
        <source>Choose a recipe</source>
        <translation>选择配方</translation>
    </message>
    <message>
        <source>&amp;Folder</source>
        <translation>文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>选择文件夹</translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation>设备(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Seed</source>
        <translation>种子(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Tasks</source>
        <translation>任务数(&amp;T)</translation>
    </message>
    <message>
        <source>St&amp;art</source>
        <translation>开始(&amp;A)</translation>
    </message>
    <message>
        <source>Choose a recipe and a folder.</source>
        <translation>请选择配方和文件夹。</translation>
    </message>
    <message>
        <source>There is no file %1.</source>
        <translation>没有文件 %1。</translation>
    </message>
    <message>
        <source>%1 is a file; choose a folder.</source>
        <translation>%1 是文件；请选择文件夹。</translation>
    </message>
    <message>
        <source>The synthesis in this folder is gone on with.</source>
        <translation>将继续此文件夹中的合成。</translation>
    </message>
    <message>
        <source>This folder holds other files; an empty one is better.</source>
        <translation>此文件夹中有其他文件；最好选择空文件夹。</translation>
    </message>
    <message>
        <source>Choose a Recipe</source>
        <translation>选择配方</translation>
    </message>
    <message>
        <source>Recipes (*.toml);;All files (*)</source>
        <translation>配方 (*.toml);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Choose a Folder</source>
        <translation>选择文件夹</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SynthesisProcess</name>
    <message>
        <source>%1 cannot be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>The synthesis was ended by a signal.</source>
        <translation>合成被信号终止。</translation>
    </message>
    <message>
        <source>The synthesis ended with exit code %1.</source>
        <translation>合成以退出码 %1 结束。</translation>
    </message>
    <message>
        <source>The set is not whole. Start the synthesis again with the same folder to go on.</source>
        <translation>任务集不完整。用同一文件夹再次开始合成即可继续。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SynthesisStrip</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分钟</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 小时 %2 分钟</translation>
    </message>
    <message>
        <source>State of the synthesis</source>
        <translation>合成的状态</translation>
    </message>
    <message>
        <source>Candidates so far</source>
        <translation>目前的候选</translation>
    </message>
    <message>
        <source>Speed and time left</source>
        <translation>速度与剩余时间</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Synthesis</source>
        <translation>合成</translation>
    </message>
    <message>
        <source>Candidates that became no tasks, by reason</source>
        <translation>没有成为任务的候选，按原因</translation>
    </message>
    <message>
        <source>What the crawl found, kept and dropped</source>
        <translation>爬取找到、保留和舍弃的内容</translation>
    </message>
    <message>
        <source>Stops the synthesis; started again with the same folder it goes on from where it was</source>
        <translation>停止合成；用同一文件夹再次开始时会从停下处继续</translation>
    </message>
    <message>
        <source>Rejections by reason</source>
        <translation>按原因的拒绝数</translation>
    </message>
    <message>
        <source>Synthesis is stopping</source>
        <translation>合成正在停止</translation>
    </message>
    <message>
        <source>The folder of the synthesis is gone</source>
        <translation>合成的文件夹已不存在</translation>
    </message>
    <message>
        <source>Synthesis is starting</source>
        <translation>合成正在启动</translation>
    </message>
    <message>
        <source>Synthesis that has not begun</source>
        <translation>尚未开始的合成</translation>
    </message>
    <message>
        <source>Synthesis is done</source>
        <translation>合成已完成</translation>
    </message>
    <message>
        <source>Synthesis was stopped</source>
        <translation>合成已停止</translation>
    </message>
    <message>
        <source>Synthesis not heard of for %1</source>
        <translation>合成已有 %1 没有消息</translation>
    </message>
    <message>
        <source>Synthesis is running</source>
        <translation>合成正在运行</translation>
    </message>
    <message>
        <source>Synthesis is running: %1</source>
        <translation>合成正在运行：%1</translation>
    </message>
    <message>
        <source>%1 proposed</source>
        <translation>已提出 %1</translation>
    </message>
    <message>
        <source>%1 checked</source>
        <translation>已检查 %1</translation>
    </message>
    <message>
        <source>%1 compiled</source>
        <translation>已编译 %1</translation>
    </message>
    <message>
        <source>%1 of %2 accepted</source>
        <translation>已接受 %1 / %2</translation>
    </message>
    <message>
        <source>%1 rejected</source>
        <translation>已拒绝 %1</translation>
    </message>
    <message>
        <source>%1 proposed/s</source>
        <translation>每秒提出 %1</translation>
    </message>
    <message>
        <source>%1 checked/s</source>
        <translation>每秒检查 %1</translation>
    </message>
    <message>
        <source>%1 compiled/s</source>
        <translation>每秒编译 %1</translation>
    </message>
    <message>
        <source>%1 accepted/s</source>
        <translation>每秒接受 %1</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>剩余 %1</translation>
    </message>
    <message>
        <source>ran for %1</source>
        <translation>运行了 %1</translation>
    </message>
    <message>
        <source>Rejections</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>Operators…</source>
        <translation>算子…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>%1 timed</source>
        <translation>已计时 %1</translation>
    </message>
    <message>
        <source>%1 timed/s</source>
        <translation>每秒计时 %1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TaskQuery</name>
    <message>
        <source>Outcome</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Number of operators</source>
        <translation>算子数</translation>
    </message>
    <message>
        <source>Level or folder</source>
        <translation>级别或文件夹</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>划分</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Dtype</source>
        <translation>数据类型</translation>
    </message>
    <message>
        <source>Operator family</source>
        <translation>算子族</translation>
    </message>
    <message>
        <source>Eager time</source>
        <translation>eager 时间</translation>
    </message>
    <message>
        <source>Compiled over eager</source>
        <translation>编译相对 eager</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <comment>an interval</comment>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>below %1</source>
        <translation>低于 %1</translation>
    </message>
    <message>
        <source>%1 or more</source>
        <translation>%1 及以上</translation>
    </message>
    <message>
        <source>(none)</source>
        <translation>（无）</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TaskSetModel</name>
    <message>
        <source>Names in the source behind torch., nn. and F.; not what it computes:
%1</source>
        <translation>源代码中 torch.、nn. 和 F. 之后的名称，并非其实际计算内容：
%1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Names in the source behind torch., nn. and F.; not what it computes</source>
        <translation>源代码中 torch.、nn. 和 F. 之后的名称，并非其实际计算内容</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Level / folder</source>
        <translation>级别/文件夹</translation>
    </message>
    <message>
        <source>Mentions</source>
        <translation>提及</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>问题</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TaskSource</name>
    <message>
        <source>is not UTF-8 text</source>
        <translation>不是 UTF-8 文本</translation>
    </message>
    <message>
        <source>the file does not exist</source>
        <translation>文件不存在</translation>
    </message>
    <message>
        <source>is not a file</source>
        <translation>不是文件</translation>
    </message>
    <message>
        <source>is longer than 2 MiB</source>
        <translation>超过 2 MiB</translation>
    </message>
    <message>
        <source>cannot be read: %1</source>
        <translation>无法读取：%1</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>line %1</source>
        <translation>第 %1 行</translation>
    </message>
    <message>
        <source>line %1 is not JSON</source>
        <translation>第 %1 行不是 JSON</translation>
    </message>
    <message>
        <source>line %1 is not a JSON object</source>
        <translation>第 %1 行不是 JSON 对象</translation>
    </message>
    <message>
        <source>line %1 has neither &quot;code&quot; nor &quot;file&quot;</source>
        <translation>第 %1 行既没有 &quot;code&quot; 也没有 &quot;file&quot;</translation>
    </message>
    <message>
        <source>line %1: &quot;file&quot; is not a .py file</source>
        <translation>第 %1 行：&quot;file&quot; 不是 .py 文件</translation>
    </message>
    <message>
        <source>line %1 is longer than 16 MiB</source>
        <translation>第 %1 行超过 16 MiB</translation>
    </message>
    <message>
        <source>not a task: has no %1</source>
        <translation>不是任务：没有 %1</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待中</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TimelineBar</name>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>Replay speed</source>
        <translation>回放速度</translation>
    </message>
    <message>
        <source>Replay speed; waits of more than 2 s are cut to 2 s</source>
        <translation>回放速度；超过 2 秒的等待缩短为 2 秒</translation>
    </message>
    <message>
        <source>%1×</source>
        <translation>%1×</translation>
    </message>
    <message>
        <source>Jump to turn</source>
        <translation>跳转到轮次</translation>
    </message>
    <message>
        <source>Turn </source>
        <translation>轮次 </translation>
    </message>
    <message>
        <source>No turn</source>
        <translation>无轮次</translation>
    </message>
    <message>
        <source>Place in the session</source>
        <translation>会话中的位置</translation>
    </message>
    <message>
        <source>Go to Start (Home)</source>
        <translation>转到开头 (Home)</translation>
    </message>
    <message>
        <source>Previous Turn (Shift+Left)</source>
        <translation>上一轮 (Shift+Left)</translation>
    </message>
    <message>
        <source>Previous Event (Left)</source>
        <translation>上一个事件 (Left)</translation>
    </message>
    <message>
        <source>Play (Space)</source>
        <translation>播放 (Space)</translation>
    </message>
    <message>
        <source>Next Event (Right)</source>
        <translation>下一个事件 (Right)</translation>
    </message>
    <message>
        <source>Next Turn (Shift+Right)</source>
        <translation>下一轮 (Shift+Right)</translation>
    </message>
    <message>
        <source>Go to End (End)</source>
        <translation>转到末尾 (End)</translation>
    </message>
    <message>
        <source>Pause Replay (Space)</source>
        <translation>暂停回放 (Space)</translation>
    </message>
    <message>
        <source>Play Replay (Space)</source>
        <translation>播放回放 (Space)</translation>
    </message>
    <message>
        <source>No events yet</source>
        <translation>暂无事件</translation>
    </message>
    <message>
        <source>● Live</source>
        <translation>● 实时</translation>
    </message>
    <message>
        <source>Event %1 of %2</source>
        <translation>事件 %1/%2</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TimesChart</name>
    <message>
        <source>Times</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Times are measured once the candidate is correct.</source>
        <translation>候选正确后才测量时间。</translation>
    </message>
    <message>
        <source>%1: %2
95 % interval %3 to %4</source>
        <translation>%1：%2
95 % 区间 %3 至 %4</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>time of a baseline, speed-up over it</comment>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>%1, candidate %2</source>
        <comment>time of a baseline, speed-up over it</comment>
        <translation>%1，候选 %2</translation>
    </message>
    <message>
        <source>%1, %2 %</source>
        <comment>time, part of the limit</comment>
        <translation>%1，%2 %</translation>
    </message>
    <message>
        <source>%1, %2 % of the limit</source>
        <translation>%1，极限的 %2 %</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>name of a bar, its text</comment>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>极限</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TraceCard</name>
    <message>
        <source>Session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Session: %1</source>
        <translation>会话：%1</translation>
    </message>
    <message>
        <source>Task file: %1</source>
        <translation>任务文件：%1</translation>
    </message>
    <message>
        <source>Device: %1</source>
        <translation>设备：%1</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1（%2）</translation>
    </message>
    <message>
        <source>Numerics: %1</source>
        <translation>数值模式：%1</translation>
    </message>
    <message>
        <source>Rules: %1</source>
        <translation>规则：%1</translation>
    </message>
    <message>
        <source>Policy: %1</source>
        <translation>策略：%1</translation>
    </message>
    <message>
        <source>At most %1 turns</source>
        <translation>最多 %1 轮</translation>
    </message>
    <message>
        <source>Set: %1</source>
        <translation>已设定：%1</translation>
    </message>
    <message>
        <source>Program version: %1</source>
        <translation>程序版本：%1</translation>
    </message>
    <message>
        <source>Task described</source>
        <translation>任务描述</translation>
    </message>
    <message>
        <source>Inputs: %1</source>
        <translation>输入：%1</translation>
    </message>
    <message>
        <source>Outputs: %1</source>
        <translation>输出：%1</translation>
    </message>
    <message>
        <source>Parameters: %1</source>
        <translation>参数：%1</translation>
    </message>
    <message>
        <source>Operators: %1</source>
        <translation>算子：%1</translation>
    </message>
    <message>
        <source>Bytes to move at least: %1</source>
        <translation>至少要搬运的字节：%1</translation>
    </message>
    <message>
        <source>No graph: %1</source>
        <translation>没有计算图：%1</translation>
    </message>
    <message>
        <source>Baselines measured</source>
        <translation>基线已测量</translation>
    </message>
    <message>
        <source>%1: %2 (95 % interval %3 to %4)</source>
        <translation>%1：%2（95 % 区间 %3 至 %4）</translation>
    </message>
    <message>
        <source>Copy of the task&apos;s bytes: %1</source>
        <translation>拷贝任务字节的用时：%1</translation>
    </message>
    <message>
        <source>%1 is missing: %2</source>
        <translation>缺少 %1：%2</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Engineer</source>
        <translation>工程师</translation>
    </message>
    <message>
        <source>Policy</source>
        <translation>策略</translation>
    </message>
    <message>
        <source>Tool call</source>
        <translation>工具调用</translation>
    </message>
    <message>
        <source>Write %1</source>
        <translation>写入 %1</translation>
    </message>
    <message>
        <source>full strength</source>
        <translation>完整强度</translation>
    </message>
    <message>
        <source>training strength</source>
        <translation>训练强度</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Result of %1</source>
        <translation>%1 的结果</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Session ended</source>
        <translation>会话已结束</translation>
    </message>
    <message>
        <source>Best turn: %1</source>
        <translation>最佳：第 %1 轮</translation>
    </message>
    <message>
        <source>No correct candidate</source>
        <translation>没有正确的候选</translation>
    </message>
    <message>
        <source>%1 tokens in</source>
        <translation>输入 %1 token</translation>
    </message>
    <message>
        <source>%1 tokens out</source>
        <translation>输出 %1 token</translation>
    </message>
    <message>
        <source>cost %1</source>
        <translation>费用 %1</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Does not compile</source>
        <translation>编译失败</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>正确</translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Reward %1</source>
        <translation>奖励 %1</translation>
    </message>
    <message>
        <source>%1 eager</source>
        <translation>相对 eager %1</translation>
    </message>
    <message>
        <source>%1 torch.compile</source>
        <translation>相对 torch.compile %1</translation>
    </message>
    <message>
        <source>Answer of %1</source>
        <translation>%1 的回答</translation>
    </message>
    <message>
        <source>Cut at its greatest length</source>
        <translation>达到最大长度而被截断</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>被拒绝</translation>
    </message>
    <message>
        <source>%1 attempts</source>
        <translation>%1 次尝试</translation>
    </message>
    <message>
        <source>Tokens estimated</source>
        <translation>Token 数为估算值</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>What earlier sessions found</source>
        <translation>此前会话的发现</translation>
    </message>
    <message>
        <source>%1 worked</source>
        <translation>%1 项有效</translation>
    </message>
    <message>
        <source>%1 failed</source>
        <translation>%1 项失败</translation>
    </message>
    <message>
        <source>At most %1 s</source>
        <translation>最多 %1 秒</translation>
    </message>
    <message>
        <source>At most %1 tokens</source>
        <translation>最多 %1 个 token</translation>
    </message>
    <message>
        <source>Cost of at most %1</source>
        <translation>费用最多 %1</translation>
    </message>
    <message>
        <source>Replays: %1</source>
        <translation>回放：%1</translation>
    </message>
    <message>
        <source>Budget from here on</source>
        <translation>此后的预算</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TraceModel</name>
    <message>
        <source>In progress</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>正在书写</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TracePane</name>
    <message>
        <source>Trace</source>
        <translation>轨迹</translation>
    </message>
    <message>
        <source>What the agent thinks, does and sees appears here, turn by turn. Open a task and press Run, or open the folder of a session.</source>
        <translation>智能体的思考、操作和所见会逐轮显示在这里。请打开任务并按“运行”，或打开会话文件夹。</translation>
    </message>
    <message>
        <source>Copy Card or Selection</source>
        <translation>复制卡片或所选内容</translation>
    </message>
    <message>
        <source>Copy Turn</source>
        <translation>复制此轮</translation>
    </message>
    <message>
        <source>Copy Thread as Markdown</source>
        <translation>将整个对话复制为 Markdown</translation>
    </message>
    <message>
        <source>Expand All Cards</source>
        <translation>展开所有卡片</translation>
    </message>
    <message>
        <source>Collapse All Cards</source>
        <translation>折叠所有卡片</translation>
    </message>
    <message>
        <source>Lines of Folded Cards…</source>
        <translation>折叠卡片的行数…</translation>
    </message>
    <message>
        <source>Find in Trace</source>
        <translation>在轨迹中查找</translation>
    </message>
    <message>
        <source>Find Next in Trace</source>
        <translation>在轨迹中查找下一个</translation>
    </message>
    <message>
        <source>Find Previous in Trace</source>
        <translation>在轨迹中查找上一个</translation>
    </message>
    <message>
        <source>Previous Turn in Trace</source>
        <translation>轨迹中的上一轮</translation>
    </message>
    <message>
        <source>Next Turn in Trace</source>
        <translation>轨迹中的下一轮</translation>
    </message>
    <message>
        <source>Jump to Latest Card</source>
        <translation>跳转到最新卡片</translation>
    </message>
    <message>
        <source>Lines of Folded Cards</source>
        <translation>折叠卡片的行数</translation>
    </message>
    <message>
        <source>Lines that a folded card shows:</source>
        <translation>折叠卡片显示的行数：</translation>
    </message>
    <message>
        <source>Write to the Agent</source>
        <translation>给智能体写消息</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TraceView</name>
    <message>
        <source>Agent trace</source>
        <translation>智能体轨迹</translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <translation>跳转到最新</translation>
    </message>
    <message>
        <source>Jump to the latest card</source>
        <translation>跳转到最新卡片</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>Turn %1: %2</source>
        <translation>第 %1 轮：%2</translation>
    </message>
    <message>
        <source>Agent trace, %1</source>
        <translation>智能体轨迹，%1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TrainDialog</name>
    <message>
        <source>New Training Run</source>
        <translation>新的训练运行</translation>
    </message>
    <message>
        <source>a recipe, such as tiny.toml</source>
        <translation>配方，例如 tiny.toml</translation>
    </message>
    <message>
        <source>where metrics, checkpoints and rollouts go</source>
        <translation>指标、检查点和采样轨迹的存放处</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Recipes (*.toml)</source>
        <translation>配方 (*.toml)</translation>
    </message>
    <message>
        <source>&amp;Recipe</source>
        <translation>配方(&amp;R)</translation>
    </message>
    <message>
        <source>Choose a recipe</source>
        <translation>选择配方</translation>
    </message>
    <message>
        <source>&amp;Folder</source>
        <translation>文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>选择文件夹</translation>
    </message>
    <message>
        <source>Choose the recipe of the run.</source>
        <translation>请选择运行的配方。</translation>
    </message>
    <message>
        <source>Choose the folder of the run.</source>
        <translation>请选择运行的文件夹。</translation>
    </message>
    <message>
        <source>A trainer writes to this folder now. Stop it first, or choose another folder.</source>
        <translation>现在有训练程序正在写入这个文件夹。请先停止它，或选择另一个文件夹。</translation>
    </message>
    <message>
        <source>The folder holds a run: it is gone on with, from its last checkpoint.</source>
        <translation>文件夹中已有一个运行：将从它的最后一个检查点继续。</translation>
    </message>
    <message>
        <source>The run goes on when this window is closed; Stop ends it.</source>
        <translation>关闭此窗口后运行会继续；“停止”会结束它。</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>启动</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TrainLauncher</name>
    <message>
        <source>The trainer %1 is missing: it is built where PyTorch is installed. Run: %2</source>
        <translation>缺少训练程序 %1：它在装有 PyTorch 的地方构建。请运行：%2</translation>
    </message>
    <message>
        <source>%1 cannot be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>The trainer of %1 was ended by a signal.</source>
        <translation>%1 的训练程序被信号终止。</translation>
    </message>
    <message>
        <source>The trainer of %1 ended with exit code %2.</source>
        <translation>%1 的训练程序以退出码 %2 结束。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TrainPage</name>
    <message>
        <source>Values under the pointer</source>
        <translation>指针处的值</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>%1 values written to %2</source>
        <translation>已将 %1 个值写入 %2</translation>
    </message>
    <message>
        <source>%1 could not be written: %2. Choose another place.</source>
        <translation>无法写入 %1：%2。请另选位置。</translation>
    </message>
    <message>
        <source>Time since the first value [s]</source>
        <translation>距首个值的时间 [秒]</translation>
    </message>
    <message>
        <source>Time since the first value [min]</source>
        <translation>距首个值的时间 [分]</translation>
    </message>
    <message>
        <source>Time since the first value [h]</source>
        <translation>距首个值的时间 [小时]</translation>
    </message>
    <message>
        <source>Looking for runs in %1 …</source>
        <translation>正在 %1 中查找训练运行…</translation>
    </message>
    <message>
        <source>%1 does not exist any more. Choose another folder.</source>
        <translation>%1 已不存在。请选择其他文件夹。</translation>
    </message>
    <message>
        <source>No runs in %1 yet: a run folder holds metrics.jsonl or TensorBoard event files. New runs are looked for every ten seconds.</source>
        <translation>%1 中暂无训练运行：运行文件夹应包含 metrics.jsonl 或 TensorBoard 事件文件。每十秒查找一次新的运行。</translation>
    </message>
    <message>
        <source>Runs in %1: %2</source>
        <translation>%1 中的训练运行：%2</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本数</translation>
    </message>
    <message>
        <source>Curves of training runs: loss, reward and whatever else a run writes, several runs over one another, live while they train.

Add a run folder, or a folder above several, or drop one here. A run folder holds metrics.jsonl (one JSON object a step) or TensorBoard event files.</source>
        <translation>训练运行的曲线：损失、奖励以及运行写入的其他指标；多个运行可以叠加显示，训练时实时更新。

请添加运行文件夹或其上级文件夹，也可以拖放到这里。运行文件夹应包含 metrics.jsonl（每步一个 JSON 对象）或 TensorBoard 事件文件。</translation>
    </message>
    <message>
        <source>These runs have no values yet. Curves appear as soon as the first step is written.</source>
        <translation>这些训练运行暂无数值。写入第一步后即显示曲线。</translation>
    </message>
    <message>
        <source>Check a metric in the list on the left to see its curves.</source>
        <translation>在左侧列表中勾选指标以查看其曲线。</translation>
    </message>
    <message>
        <source>Select the runs to remove in the list; their files stay.</source>
        <translation>请在列表中选择要移除的训练运行；其文件会保留。</translation>
    </message>
    <message>
        <source>Add a run folder</source>
        <translation>添加运行文件夹</translation>
    </message>
    <message>
        <source>Export all plots as CSV</source>
        <translation>将所有图表导出为 CSV</translation>
    </message>
    <message>
        <source>CSV files (*.csv)</source>
        <translation>CSV 文件 (*.csv)</translation>
    </message>
    <message>
        <source>Writing %1 …</source>
        <translation>正在写入 %1…</translation>
    </message>
    <message>
        <source>&amp;Add Folder…</source>
        <translation>添加文件夹(&amp;A)…</translation>
    </message>
    <message>
        <source>&amp;Remove Runs</source>
        <translation>移除训练运行(&amp;R)</translation>
    </message>
    <message>
        <source>Re&amp;load Runs</source>
        <translation>重新载入训练运行(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Check All Runs</source>
        <translation>全部勾选(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Uncheck All Runs</source>
        <translation>全部取消勾选(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Filter Metrics</source>
        <translation>筛选指标(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Export All Plots as CSV…</source>
        <translation>将所有图表导出为 CSV(&amp;E)…</translation>
    </message>
    <message>
        <source>Log &amp;x</source>
        <translation>对数 &amp;x</translation>
    </message>
    <message>
        <source>Logarithmic x axis</source>
        <translation>对数 x 轴</translation>
    </message>
    <message>
        <source>Log &amp;y</source>
        <translation>对数 &amp;y</translation>
    </message>
    <message>
        <source>Logarithmic y axis</source>
        <translation>对数 y 轴</translation>
    </message>
    <message>
        <source>F&amp;ollow</source>
        <translation>跟随(&amp;O)</translation>
    </message>
    <message>
        <source>Show everything and follow new values in all plots (Ctrl+0)</source>
        <translation>在所有图表中显示全部并跟随新值 (Ctrl+0)</translation>
    </message>
    <message>
        <source>Add Folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>训练运行</translation>
    </message>
    <message>
        <source>Filter metrics</source>
        <translation>筛选指标</translation>
    </message>
    <message>
        <source>Metrics</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Recent Folders</source>
        <translation>最近的文件夹</translation>
    </message>
    <message>
        <source>by step</source>
        <translation>按步</translation>
    </message>
    <message>
        <source>by wall time</source>
        <translation>按实际时间</translation>
    </message>
    <message>
        <source>by samples</source>
        <translation>按样本数</translation>
    </message>
    <message>
        <source>Horizontal axis</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>S&amp;moothing</source>
        <translation>平滑(&amp;M)</translation>
    </message>
    <message>
        <source>Smoothing weight in thousandths</source>
        <translation>平滑权重（千分之几）</translation>
    </message>
    <message>
        <source>Weight of the exponential moving average (debiased); the raw values stay faintly underneath</source>
        <translation>指数移动平均的权重（已去偏）；原始值以淡色显示在下方</translation>
    </message>
    <message>
        <source>Smoothing weight</source>
        <translation>平滑权重</translation>
    </message>
    <message>
        <source>1 column</source>
        <translation>1 列</translation>
    </message>
    <message>
        <source>2 columns</source>
        <translation>2 列</translation>
    </message>
    <message>
        <source>3 columns</source>
        <translation>3 列</translation>
    </message>
    <message>
        <source>Columns of plots</source>
        <translation>图表列数</translation>
    </message>
    <message>
        <source>No folders yet</source>
        <translation>暂无文件夹</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元数</translation>
    </message>
    <message>
        <source>by tokens</source>
        <translation>按词元数</translation>
    </message>
    <message>
        <source>&amp;Start…</source>
        <translation>启动(&amp;S)…</translation>
    </message>
    <message>
        <source>Start a training run</source>
        <translation>启动一个训练运行</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>暂停(&amp;P)</translation>
    </message>
    <message>
        <source>Pause the run after its current step</source>
        <translation>在当前这一步之后暂停运行</translation>
    </message>
    <message>
        <source>Res&amp;ume</source>
        <translation>恢复(&amp;U)</translation>
    </message>
    <message>
        <source>Let a paused run go on, or start an ended one from its last checkpoint</source>
        <translation>让已暂停的运行继续，或从最后一个检查点重新启动已结束的运行</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>停止(&amp;T)</translation>
    </message>
    <message>
        <source>Stop the run after its current step; it can be resumed later</source>
        <translation>在当前这一步之后停止运行；以后可以恢复</translation>
    </message>
    <message>
        <source>Training in %1: %2</source>
        <translation>%1 中的训练：%2</translation>
    </message>
    <message>
        <source>Rollouts</source>
        <translation>采样轨迹</translation>
    </message>
    <message>
        <source>There is no session in %1; the trainer keeps a sample of them.</source>
        <translation>%1 中没有会话；训练程序只保留其中一部分。</translation>
    </message>
    <message>
        <source>A double click shows the trajectory as a replay.</source>
        <translation>双击以回放的方式显示这条轨迹。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TransformerDialog</name>
    <message>
        <source>Trained Model</source>
        <translation>训练好的模型</translation>
    </message>
    <message>
        <source>The model that writes the kernels where the policy is Trained model. It was trained in the Train perspective or by cuda-agent train.</source>
        <translation>策略为“训练好的模型”时由它编写内核。它是在“训练”视图中或用 cuda-agent train 训练的。</translation>
    </message>
    <message>
        <source>The session goes on with the weights that it was begun with, wherever they are now, and its turns are drawn as its log says.</source>
        <translation>会话用开始时的权重继续，无论它们现在在哪里；各轮按其日志所述的方式采样。</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TransformerForm</name>
    <message>
        <source>There is no folder %1.</source>
        <translation>没有文件夹 %1。</translation>
    </message>
    <message>
        <source>There are no weights in %1, the default. Choose a folder, such as actor/ in a checkpoint of a training run.</source>
        <translation>默认位置 %1 中没有权重。请选择一个文件夹，例如训练运行的检查点中的 actor/。</translation>
    </message>
    <message>
        <source>Folder of the weights</source>
        <translation>权重的文件夹</translation>
    </message>
    <message>
        <source>The weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>the default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>A folder with config.json, model.safetensors and tokenizer.json, such as actor/ in a checkpoint of a training run. Empty: $CUDA_AGENT_WEIGHTS, else the weights that came with the program</source>
        <translation>包含 config.json、model.safetensors 和 tokenizer.json 的文件夹，例如训练运行的检查点中的 actor/。留空：$CUDA_AGENT_WEIGHTS，否则为程序附带的权重</translation>
    </message>
    <message>
        <source>C&amp;hoose…</source>
        <translation>选择(&amp;H)…</translation>
    </message>
    <message>
        <source>Choose the folder of the weights</source>
        <translation>选择权重的文件夹</translation>
    </message>
    <message>
        <source>&amp;Weights:</source>
        <translation>权重(&amp;W)：</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0, from the second attempt on 1</source>
        <translation>0，从第二次尝试起为 1</translation>
    </message>
    <message>
        <source>How freely the model writes; 0: always the likeliest token</source>
        <translation>模型书写的自由程度；0：总是取最可能的 token</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p 值</translation>
    </message>
    <message>
        <source>Tokens are among the likeliest that make this probability together</source>
        <translation>只从合计达到此概率的最可能的 token 中采样</translation>
    </message>
    <message>
        <source>Longest turn</source>
        <translation>最长的一轮</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> 个 token</translation>
    </message>
    <message>
        <source>Tokens that the model writes in a turn at most</source>
        <translation>模型在一轮中最多写的 token 数</translation>
    </message>
    <message>
        <source>&amp;Temperature:</source>
        <translation>温度(&amp;T)：</translation>
    </message>
    <message>
        <source>Top-&amp;p:</source>
        <translation>Top-p 值(&amp;P)：</translation>
    </message>
    <message>
        <source>&amp;Longest turn:</source>
        <translation>最长的一轮(&amp;L)：</translation>
    </message>
    <message>
        <source>Folder of the Weights</source>
        <translation>权重的文件夹</translation>
    </message>
    <message>
        <source>a vocabulary of %1 tokens</source>
        <translation>词表 %1 个 token</translation>
    </message>
    <message>
        <source>By default: %1</source>
        <translation>默认：%1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TurnList</name>
    <message>
        <source>Start</source>
        <translation>起点</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Turn %1: wrong</source>
        <translation>第 %1 轮：错误</translation>
    </message>
    <message>
        <source>Turn %1: does not compile</source>
        <translation>第 %1 轮：编译失败</translation>
    </message>
    <message>
        <source>Turn %1: %2</source>
        <translation>第 %1 轮：%2</translation>
    </message>
    <message>
        <source>Turn %1: correct</source>
        <translation>第 %1 轮：正确</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::TurnStrip</name>
    <message>
        <source>Turns of the session</source>
        <translation>会话的各轮</translation>
    </message>
    <message>
        <source>Before the first turn: task and baselines</source>
        <translation>第一轮之前：任务与基线</translation>
    </message>
    <message>
        <source>Turn %1 by the engineer</source>
        <translation>第 %1 轮（工程师）</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Correct</source>
        <translation>正确</translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>%1, %2 torch.compile</source>
        <translation>%1，相对 torch.compile %2</translation>
    </message>
    <message>
        <source>No verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>%1…</source>
        <translation>%1…</translation>
    </message>
    <message>
        <source>Turn %1, event %2 of %3</source>
        <translation>第 %1 轮，事件 %2/%3</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::VerdictPane</name>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>No verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>How the verdict was reached</source>
        <translation>判定的依据</translation>
    </message>
    <message>
        <source>What went wrong</source>
        <translation>出错之处</translation>
    </message>
    <message>
        <source>Checks</source>
        <translation>检查项</translation>
    </message>
    <message>
        <source>Flags and limits that were not enforced</source>
        <translation>标记以及未强制执行的限制</translation>
    </message>
    <message>
        <source>Copy Verdict as Text</source>
        <translation>将判定复制为文本</translation>
    </message>
    <message>
        <source>Copy Verdict as JSON</source>
        <translation>将判定复制为 JSON</translation>
    </message>
    <message>
        <source>Export Times…</source>
        <translation>导出时间…</translation>
    </message>
    <message>
        <source>Turn %1 has no verdict yet. One comes when the policy verifies its candidate, or after Check.</source>
        <translation>第 %1 轮尚无判定。策略验证其候选时或按“检查”之后会产生判定。</translation>
    </message>
    <message>
        <source>Whether the candidate is right, each check with its evidence, and its times against eager and torch.compile are shown here.
Press Run, or Check after an edit.</source>
        <translation>这里显示候选是否正确、每项检查及其证据，以及相对 eager 和 torch.compile 的时间。
请按“运行”，或在修改后按“检查”。</translation>
    </message>
    <message>
        <source>%1. %2</source>
        <comment>Turn 3. Correct, reward 2 ...</comment>
        <translation>%1。%2</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>• %1</source>
        <translation>• %1</translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::WelcomePage</name>
    <message>
        <source>CUDA Agent Workbench</source>
        <translation>CUDA Agent Workbench</translation>
    </message>
    <message>
        <source>Open a PyTorch task, a Python file with Model, get_inputs() and get_init_inputs(), and press Run: the workbench looks for a kernel that is verified and faster. Files and session folders can also be dropped here.</source>
        <translation>打开一个 PyTorch 任务（含有 Model、get_inputs() 和 get_init_inputs() 的 Python 文件），然后按“运行”：工作台会寻找经过验证且更快的内核。也可以将文件和会话文件夹拖放到这里。</translation>
    </message>
    <message>
        <source>Open Task…</source>
        <translation>打开任务…</translation>
    </message>
    <message>
        <source>Open Session…</source>
        <translation>打开会话…</translation>
    </message>
    <message>
        <source>Sample tasks</source>
        <translation>示例任务</translation>
    </message>
    <message>
        <source>Recent tasks</source>
        <translation>最近的任务</translation>
    </message>
    <message>
        <source>Recent sessions</source>
        <translation>最近的会话</translation>
    </message>
    <message>
        <source>None are installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>暂无</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>Open a session folder.</source>
        <translation>打开会话文件夹。</translation>
    </message>
    <message>
        <source>Begin in optimize, replay, data or train.</source>
        <translation>以 optimize、replay、data 或 train 透视图开始。</translation>
    </message>
    <message>
        <source>Render the view into a PNG file and leave.</source>
        <translation>将视图渲染为 PNG 文件后退出。</translation>
    </message>
    <message>
        <source>Size of the window, such as 1280x800.</source>
        <translation>窗口大小，例如 1280x800。</translation>
    </message>
    <message>
        <source>system, light or dark.</source>
        <translation>system、light 或 dark。</translation>
    </message>
    <message>
        <source>Language of the window, such as en or zh_CN.</source>
        <translation>窗口语言，例如 en 或 zh_CN。</translation>
    </message>
    <message>
        <source>Turn to show.</source>
        <translation>要显示的轮次。</translation>
    </message>
    <message>
        <source>Add a run folder to the Train perspective.</source>
        <translation>向“训练”透视图添加运行文件夹。</translation>
    </message>
    <message>
        <source>Task files, session folders or folders of tasks to open.</source>
        <translation>要打开的任务文件、会话文件夹或任务文件夹。</translation>
    </message>
    <message>
        <source>Finds faster CUDA kernels for PyTorch modules, and shows how.</source>
        <translation>为 PyTorch 模块寻找更快的 CUDA 内核，并展示过程。</translation>
    </message>
    <message>
        <source>there is no perspective &apos;%1&apos;; use optimize, replay, data or train</source>
        <translation>没有透视图“%1”；请使用 optimize、replay、data 或 train</translation>
    </message>
    <message>
        <source>--colours takes system, light or dark</source>
        <translation>--colours 的值为 system、light 或 dark</translation>
    </message>
    <message>
        <source>--size takes WIDTHxHEIGHT, such as 1280x800</source>
        <translation>--size 的值为 WIDTHxHEIGHT，例如 1280x800</translation>
    </message>
    <message>
        <source>there is no session in %1</source>
        <translation>%1 中没有会话</translation>
    </message>
</context>
<context>
    <name>text</name>
    <message>
        <source>not measured</source>
        <translation>未测量</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 min</translation>
    </message>
</context>
</TS>
