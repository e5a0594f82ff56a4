// Package alert tells people what a run needs them for: that it paused, diverged, makes no rounds,
// has a suspect, or has ended. Alerts go to webhooks and to a command. No alert makes a run wait,
// and no failure to send one ends a run.
package alert
