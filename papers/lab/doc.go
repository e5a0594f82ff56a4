// Package lab has the parts that the papers' experiments share: the data sets, trainings for
// several seeds, saved runs, and reports with claims, tables and figures.
//
// For most uses, make a [Training] for each curve and pass it to [Env.Train], which runs every
// seed, keeps logs under Env.Dir and reports progress. Add the curves to a [Report] with
// [Report.AddCurves], and the conclusions with [Report.Claim].
//
// With Env.Screen, [Env.Train] lets all clients give gradients instead of losses, and
// [Experiment.Run] marks the report as screened.
package lab
