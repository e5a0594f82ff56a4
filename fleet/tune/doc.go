// Package tune finds the settings of a plan that its method leaves open: mu, the step, P and the
// batch. It tries them on devices of this process (see package fleet), within a budget of loss
// evaluations that it never exceeds. [Run] does this. It returns the plan, the attempts that it
// made, and why it chose.
//
// # How
//
// All trials begin at the same parameters, with the same directions and minibatches. The devices'
// mean loss on the same fresh minibatches judges them. So two trials differ by their settings only.
// In order:
//
//   - mu: 19 losses of each device, at x and at x +- mu z for mu = 1e-6, 1e-5, ..., 1e2. Run
//     chooses the largest mu whose even part, rms((f+ + f-)/2 - f), is at most a fifth of its odd
//     part, rms((f+ - f-)/2). Beyond it the curvature would show in the differences.
//   - line: one round gives a first move D. Of the losses at x + 4^j D, for j = -8, ..., 8, the
//     least says where to begin. This works even if the plan's step is thousands of times off.
//   - bracket: short trials, with steps 4 times as large and as small, until both neighbors of
//     the best step are worse. A trial that diverges is worse than any other.
//   - refine: 50 rounds each with that step, with a quarter of it and with four times it. Run drops
//     a trial that gained less than half as much as the best one after a quarter of the rounds, or
//     less than four fifths half way. If an outer step is the best, the search continues beyond it.
//     The plan's own step stays unless another step gains at least 5 % more.
//   - perturbations: half and twice P, with as many evaluations as the best trial had: P changes
//     only for a gain that is at least 5 % larger. The step changes with P, and so do the plan's
//     rounds: their evaluations stay the same.
//   - batch: a quarter and four times the batch, with as many evaluations. Run chooses four times
//     for a gain that is at least 5 % larger, and a quarter if its gain is at most 1 % smaller. The
//     batch stays if a quarter changes no loss.
//
// With step_auto=on and no step, the devices find one by themselves in six rounds. This stage,
// survey, replaces line and bracket. Run then compares that step with a quarter of it and with four
// times it. The plan leaves the step to the devices unless one of these gains at least 5 % more.
//
// The step is the plan's step, or server_step if the server rule is adam, amsgrad, yogi, adagrad or
// sign: with these rules the length of the mean move does not change the length of a step.
//
// # What it does not do
//
// The trials are short. The best step for 50 rounds may be too large for 5,000, so give long runs a
// step_decay.
package tune
