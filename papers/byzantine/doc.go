// Package byzantine asks what devices that lie cost a run, by the kind of lie, and what each way to
// sum contributions holds of that. It also asks what guards cost a fleet in which nobody lies.
package byzantine
