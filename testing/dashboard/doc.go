// Package dashboard tests the dashboard of `zofl serve --http` from outside. The built program runs
// as a process, a headless Chromium shows the page, and thousands of simulated devices answer
// rounds over one connection.
//
// ZOFL_CHROMIUM names the browser. If ZOFL_CHROMIUM is empty, the tests of the page are skipped.
package dashboard
