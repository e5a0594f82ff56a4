// Package dashboard serves a page on which people see and steer a run: its curves, its devices, its
// plan, and the commands of an operator. The page is in the program, and asks nobody else.
//
//	server := dashboard.New(dashboard.Config{Token: token})
//	board := server.Board(history)      // a Recorder of the coordinator's events
//	board.Lead(operate.NewDesk(c, watch))
//	go server.Serve(ctx, listener)
//
// The page gets a snapshot and then changes as server-sent events. A goroutine makes them while
// somebody looks, and none runs otherwise. A reader who is slow is dropped, and never waited for.
package dashboard
