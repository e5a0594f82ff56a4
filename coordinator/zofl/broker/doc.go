// Package broker runs a NATS server in this process, for `zofl demo`, for `zofl serve` without
// --url, and for tests. The package also counts the bytes of connections.
//
// For most uses:
//
//	b, err := broker.Run(broker.Config{})
//	defer b.Shutdown()
//	nc, traffic, err := b.Connect("device 7")
//	defer nc.Close()
//	... traffic.Up(), traffic.Down()
//
// The server is nats-server. The server listens on loopback unless [Config.Listen] says otherwise.
// Anybody who reaches its address may connect, unless [Config.Nkeys] names the users who may
// connect. With [Config.TLS] the server takes connections under TLS only. With [Config.JetStream]
// the server can store the log of a run. With [Config.WebSocket] browsers connect, too.
package broker
