// Package proxy connects a device to its broker through the proxy that the environment names.
//
//	nc, err := nats.Connect(url, append(client.ConnectOptions(id), proxy.FromEnvironment())...)
//
// The variables have the meaning that net/http gives them, and may be written in lower case:
//
//   - HTTPS_PROXY is for wss://, and HTTP_PROXY for ws://.
//   - ALL_PROXY is for what these leave open: also for tls:// and nats://, as curl has it for each
//     protocol.
//   - NO_PROXY lists the hosts that a program reaches without a proxy, with a comma between them:
//     example.com with its subdomains, .example.com for its subdomains alone, 192.0.2.7,
//     192.0.2.0/24, a name or address with :PORT, or * for all. No proxy is used for localhost and
//     for loopback addresses.
//
// A proxy is http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, perhaps with USER:PASSWORD@
// before HOST. HOST alone is an http proxy.
package proxy
