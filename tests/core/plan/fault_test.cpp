// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/plan/fault.h"

#include "tests/core/plan/plan_fixture.h"
#include "tests/core/plan/run_cases.h"
#include "tests/core/plan/run_fixture.h"

namespace cuda_agent::plan {
namespace {

TEST(FaultKinds, AreReadFromWhatIsSaid) {
    const std::pair<const char *, const char *> cases[] = {
        {"CUDA error 700 an illegal memory access was encountered in kernels/x.cu:k (step 0)",
         "illegal_address"},
        {"CUDA error 716 misaligned address in kernels/x.cu:k (step 0)", "illegal_address"},
        {"model_new.py:12: AcceleratorError: CUDA error: an illegal memory access was encountered "
         "(while a call)",
         "illegal_address"},
        {"SIGSEGV (an access to memory that is not there) in kernels/x.cu:k (step 0)",
         "illegal_address"},
        {"the candidate's process ended during a call: ended by SIGSEGV", "illegal_address"},
        {"CUDA error 710 device-side assert triggered in kernels/x.cu:k (step 2)", "assertion"},
        {"model_new.py: AcceleratorError: CUDA error: device-side assert triggered (while a call)",
         "assertion"},
        {"kernels/x.cu:9: assertion failed: i < n in kernels/x.cu:k (step 0)", "assertion"},
        {"CUDA error 715 an illegal instruction was encountered in kernels/x.cu:k (step 0)",
         "illegal_instruction"},
        {"CUDA error 719 unspecified launch failure in kernels/x.cu:k (step 0)",
         "illegal_instruction"},
        {"SIGILL (an instruction that this processor lacks, or __builtin_trap) in k",
         "illegal_instruction"},
        {"SIGFPE (an integer division by zero) in kernels/x.cu:k (step 0)", "arithmetic"},
        {"the candidate did not finish within 10 s during a call", "hang"},
        {"CUDA error 702 the launch timed out and was terminated in k", "hang"},
        {"CUDA error 2 out of memory in kernels/x.cu:k (step 0)", "out_of_memory"},
        {"model_new.py:7: OutOfMemoryError: CUDA out of memory. Tried to allocate 9 GiB",
         "out_of_memory"},
        {"the candidate's process ended during a call: killed after 1.2 s (memory limit)",
         "out_of_memory"},
        {"CUDA error 701 too many resources requested for launch in k", "launch"},
        {"CUDA error 1 invalid argument in kernels/x.cu:k (step 0)", "launch"},
        {"the candidate's process ended during timing: killed after 3.0 s (cpu limit)", "limit"},
        {"the candidate's process ended during a call: exit 0", "died"},
        {"the candidate's process ended during a call: ended by SIGKILL", "died"},
        {"model_new.py:7: KeyError: 37 (while a call)", "raised"},
        {"model_new.py:7: ValueError: six rows, please (while a timed call)", "raised"},
        {"model_new.py: LaunchFault: k.cu: line 4: divergent barrier (while a call)", "other"},
        {"kernels/x.cu:k: there is no kernel of that name", "other"},
        {"", "other"}};
    for (const auto &[sentence, kind] : cases)
        EXPECT_EQ(nameOf(faultKindOf(sentence)), kind) << sentence;
}

TEST(FaultKinds, SomeConcernTheDevice) {
    for (const auto kind : {FaultKind::illegalAddress, FaultKind::assertion, FaultKind::hang,
                            FaultKind::illegalInstruction, FaultKind::died, FaultKind::other})
        EXPECT_TRUE(concernsDevice(kind)) << nameOf(kind);
    for (const auto kind :
         {FaultKind::outOfMemory, FaultKind::launch, FaultKind::limit, FaultKind::raised})
        EXPECT_FALSE(concernsDevice(kind)) << nameOf(kind);
}

/// Faults of real kernels, each in its own process, and a sound candidate after each.
class Faults : public RunPlan {
  protected:
    std::string kindOf(const std::string &source,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(20'000)) {
        compileCandidate(pointwisePlan(), source);
        signature_ = pointwiseSignature(100);
        EXPECT_TRUE(start(patience)) << problem_.message;
        if (!process_)
            return "did not start";
        EXPECT_FALSE(process_->fault()) << "nothing has failed yet";
        CallBuffers buffers;
        buffers.inputs = {lendFloats(ramp(100), {100})};
        buffers.outputs = {lendFloats(ramp(100), {100})};
        const auto said = callOnce(buffers);
        const auto fault = process_->fault();
        const auto record = process_->finish();
        EXPECT_FALSE(record.stuck);
        if (said.empty()) {
            EXPECT_FALSE(fault);
            EXPECT_FALSE(process_->fault()) << "an end that was asked for is no fault";
            return "none";
        }
        EXPECT_EQ(fault ? fault->detail : "", said);
        return fault ? std::string(nameOf(fault->kind)) : "no fault was given";
    }
};

TEST_F(Faults, OfKernelsAreToldApart) {
    const auto kernel = [](const std::string &body) {
        return "extern \"C\" __global__ void k(const float *in, float *out, int n) {\n"
               "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
               body + "\n}\n";
    };
    const std::string sound = kernel("if (i < n) out[i] = 2 * in[i];");
    const std::pair<std::string, const char *> cases[] = {
        {"out[(long long)n * 100000000 + i] = 1;", "illegal_address"},
        {"assert(i < 3); if (i < n) out[i] = 1;", "assertion"},
        {"if (i == 5) __trap();", "illegal_instruction"},
        {"volatile float *spin = out; while (spin[0] != 12345.0f) { }", "hang"},
        {"if (i < n) out[i] = 1;", "none"}};
    for (const auto &[body, kind] : cases) {
        const auto patience =
            std::chrono::milliseconds(std::string_view(kind) == "hang" ? 1000 : 20'000);
        EXPECT_EQ(kindOf(kernel(body), patience), kind) << body;
        EXPECT_EQ(kindOf(sound), "none") << "after " << body;
    }
}

} // namespace
} // namespace cuda_agent::plan
