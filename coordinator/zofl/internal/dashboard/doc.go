// Package dashboard serves a web page that shows a run's curves, devices and plan. On this page
// people can also send an operator's commands. The program contains the page, and the page loads
// nothing from other servers.
//
//	server := dashboard.New(dashboard.Config{Token: token})
//	board := server.Board(history)      // a Recorder of the coordinator's events
//	board.Lead(operate.NewDesk(c, watch))
//	go server.Serve(ctx, listener)
//
// The page gets a snapshot and then changes as server-sent events. A goroutine makes these
// messages, and runs only while somebody reads. The server drops a slow reader, and never waits for
// a reader.
package dashboard
