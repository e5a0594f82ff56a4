// Package byzantine measures what lying devices cost a run, by the kind of lie, and how much of
// that each way to sum contributions prevents. It also asks what guards cost a fleet in which
// nobody lies.
package byzantine
