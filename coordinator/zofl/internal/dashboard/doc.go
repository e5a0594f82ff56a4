// Package dashboard serves a page on which people see and steer a run: its curves, its devices, its
// plan, and the commands of an operator. The page is part of the program and loads nothing from
// other servers.
//
//	server := dashboard.New(dashboard.Config{Token: token})
//	board := server.Board(history)      // a Recorder of the coordinator's events
//	board.Lead(operate.NewDesk(c, watch))
//	go server.Serve(ctx, listener)
//
// The page gets a snapshot and then changes as server-sent events. A goroutine makes the messages
// while somebody reads; otherwise none runs. The server drops a reader that is slow, and never
// waits for one.
package dashboard
