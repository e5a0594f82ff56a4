// Package servers runs NATS servers as processes of their own, one or a
// cluster, with a JetStream that syncs every message, for tests that kill, stop
// and restart them:
//
//	c := servers.Start(t, 3)
//	nc := c.Connect(t, "coordinator")
//	...
//	leader := c.Leader(t, "ZO_run_LOG")
//	leader.Pause()
//	...
//	leader.Continue()
//	leader.Kill()
//	leader.Restart(t) // the same ports and store
//
// They listen on the loopback interface and end with the test, or with the
// program that runs it. The program is built from the module of nats-server
// that this one requires, once for all tests on a machine: it is kept in the
// user's cache directory.
package servers
