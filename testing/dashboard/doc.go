// Package dashboard tests the dashboard of `zofl serve --http` from outside: the built program is a
// process, the page is in a headless Chromium, and thousands of simulated devices answer rounds
// over one connection.
//
// ZOFL_CHROMIUM names the browser; without it the tests of the page are skipped.
package dashboard
