// Package scaling tests the commands of docs/scaling.md. The test runs servers as processes with
// the page's configurations, and runs the page's commands. Production devices take part while the
// test kills servers.
package scaling
