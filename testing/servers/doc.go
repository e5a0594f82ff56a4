// Package servers runs NATS servers as separate processes: one server or a cluster, with a
// JetStream that syncs every message. Tests use the package to kill, stop and restart servers:
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
// The servers listen on the loopback interface, and end with the test or with the program that runs
// the test. The package builds nats-server from the module that this module requires, once for all
// tests on a machine, and stores the binary in the user's cache directory.
package servers
