// Package byzantine measures what lying devices cost a run, by the kind of lie, and how much of
// that each way to sum contributions prevents. It also measures the cost of guards for a fleet
// without liars.
package byzantine
