// Package tune finds the settings of a plan that its method leaves open: mu, the step, P and the
// batch. [Run] tries settings on devices of this process (see package fleet), and never makes more
// loss evaluations than its budget. Run returns the tuned plan, all trials, and the reasons for its
// choices.
//
// # How
//
// All trials begin at the same parameters, with the same directions and minibatches. Run judges
// each trial by the devices' mean loss after its last round, on the same fresh minibatches. So two
// trials differ only by their settings. The stages, in order:
//
//   - mu: 19 losses of each device, at x and at x +- mu z for mu = 1e-6, 1e-5, ..., 1e2. Run
//     chooses the largest mu whose even part, rms((f+ + f-)/2 - f), is at most a fifth of its odd
//     part, rms((f+ - f-)/2). With a larger mu, the loss's curvature would distort the differences.
//   - line: one round gives a first move D. Run evaluates the losses at x + 4^j D, for j = -8, ...,
//     8. The step of stage bracket begins at the j with the least loss. The line search works even
//     if the plan's step is thousands of times too large or too small.
//   - bracket: short trials, with steps 4 times as large and a quarter as large, until both
//     neighbors of the best step end with a higher loss. A trial that diverges counts as the worst.
//   - refine: trials of 50 rounds each, with the best step of stage bracket, with a quarter of it
//     and with four times it. The gain of a trial is how much the loss fell. After a quarter of the
//     rounds, Run drops a trial whose gain is less than half of the best trial's. After half of the
//     rounds, Run drops a trial whose gain is less than four fifths. If the smallest or the largest
//     step is the best, Run tries steps beyond it. The plan's own step stays unless another step
//     gains at least 5 % more.
//   - perturbations: trials with half and twice P, and with as many evaluations as the best trial
//     had. Run changes P only for a gain that is at least 5 % larger. With P, Run also changes the
//     step, and the number of the plan's rounds, so that the run takes as many evaluations as
//     before.
//   - batch: trials with a quarter and four times the batch, and with as many evaluations. Run
//     chooses the larger batch if its gain is at least 5 % larger, and the smaller batch if its
//     gain is at most 1 % smaller. The batch stays if a quarter of it changes no loss.
//
// If the plan has step_auto=on and no step, the devices find a step by themselves in some rounds.
// The stage survey, in which the devices do so, replaces the stages line and bracket. Run then
// compares that step with a quarter of it and with four times it. The tuned plan leaves the step to
// the devices unless one of these two steps gains at least 5 % more.
//
// The step is the plan's step, or server_step if the server rule is adam, amsgrad, yogi, adagrad or
// sign: with these rules the length of the mean move does not change the length of a step.
//
// # What it does not do
//
// The trials are short. The best step for 50 rounds may be too large for 5,000, so give long runs a
// step_decay.
package tune
