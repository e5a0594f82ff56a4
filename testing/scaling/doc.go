// Package scaling types what docs/scaling.md shows: servers with the page's configurations, as
// processes, and the page's commands. Production devices of the test take part, and it kills
// servers meanwhile.
package scaling
