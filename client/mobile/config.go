package mobile

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"math"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client/mobile/internal/creds"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/signed"
)

// A Config says what a [Client] must do. The fields are settings that are not secret: a binding's
// toString shows them. Secrets and callbacks are set by methods. A Config makes one client.
type Config struct {
	// Run is the name of the run, as in the coordinator's plan.
	Run string
	// Device names this device for the whole run: at most 32 letters, digits, '-' and '_', different
	// from every other device's. Draw a random name once and keep it; a run must not learn the phone's
	// own ids.
	Device string
	// Dim is the model's number of parameters.
	Dim int
	// StateDir is the directory for the device's state; it is created if it does not exist. On Android
	// choose one below getNoBackupFilesDir(). On iOS choose one in the app's own container: iOS kills
	// suspended apps that hold a lock in an app group's. With "" the state stays in memory only. Only
	// one client at a time may use the directory, while its Run or Load runs. Give each run its own
	// directory. The client refuses one with the state of another run or model, and does not change
	// it.
	StateDir string
	// Samples is the number of samples over which the loss is computed: this device's weight in runs
	// with weights=samples, and the most that [Round].BatchSize asks for. 0 means a weight of 1, and
	// batches up to MaxBatch.
	Samples int
	// MaxBatch is the most that [Round].BatchSize asks for, whatever the plan says. 0 means
	// Samples, or 65536 where that is 0.
	MaxBatch int
	// NotStrict lets a device go on whose loss fails whenever it is called. By default Run ends with
	// [CodeLoss] if the loss fails in the first round that asks this device, and then again. A loss
	// that has worked once, perhaps earlier with the same StateDir, may fail as often as it likes.
	NotStrict bool
	// Workers is how many threads may generate directions at once, at most one per core; 0 means one
	// per core. The number does not change the bits of the model.
	Workers int
	// MemoryLimit is how many bytes the client may allocate for the run's plan. The client refuses a
	// plan or a change that needs more with [CodePlan], before it allocates anything. 0 means 512 MiB
	// and 192 bytes a parameter.
	MemoryLimit int64
	// Coordinator is the coordinator's public key, "ed25519:" and 43 characters: the client then
	// ignores everything that this key has not signed. [Config.SetCredentials] sets it if the text
	// names a key, and the line of `zofl device add --qr` has it. While the coordinator changes its
	// key, give both with a comma between them. With "" the client accepts messages from anybody on
	// the run's subjects.
	Coordinator string
	// Plaintext allows connections without TLS, but only to the loopback addresses of this
	// machine, such as those that adb reverse makes.
	Plaintext bool

	// UnmeteredOnly, ChargingOnly and MinBattery say when the device declines rounds. MinBattery is a
	// percentage, ignored while charging. [Client.SetNetwork] and [Client.SetPower] report the
	// device's condition. Until the app calls them, these requirements count as not met.
	UnmeteredOnly bool
	ChargingOnly  bool
	MinBattery    int

	// About is the text about this app and its version that the coordinator's operator sees, such as
	// "pantry 1.4": at most 48 ASCII characters. With it the operator also sees the platform, and the
	// reports of [Client.SetPower] and [Client.SetNetwork]. "" shows none of this.
	About string

	servers     []*url.URL
	roots       *x509.CertPool      // nil: the system's
	pin         []byte              // SHA-256 of the authority, which replaces roots; nil: none
	asksTrust   bool                // the app's Trust decides, not roots and pin
	keys        [][sha256.Size]byte // keys of which the server must have one; none: any
	credentials nats.Option         // nil: none
	initial     []float32
	runKey      []byte
	columns     []plan.Column
	listener    Listener
	callbacks   callbacks
}

// NewConfig returns a Config without any settings.
func NewConfig() *Config { return &Config{} }

// AddServer adds a NATS server to try: "tls://host:4222" or "wss://host:443", which are the default
// ports. Unless Plaintext is set, "nats://" means "tls://". Either all servers of a Config are
// websockets, or none is. The client connects to no other servers. For a cluster, add all
// addresses, or a name that resolves to all.
func (c *Config) AddServer(address string) (err error) {
	defer guard(&err)
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || !usablePort(u.Port()) {
		return faultf(CodeConfig, "AddServer: %q is not an address: give one such as "+
			"tls://zofl.example.org:4222", withoutUser(address))
	}
	switch u.Scheme {
	case "tls", "nats", "ws", "wss":
	default:
		return faultf(CodeConfig,
			"AddServer: %q is none of tls://, wss:// and, with Plaintext, nats:// and ws://", u.Scheme)
	}
	if u.User != nil {
		return faultf(CodeConfig,
			"AddServer: %s contains a user: give credentials with SetCredentials", place(u))
	}
	if !websocket(u) && (u.RequestURI() != "/" || u.Fragment != "") {
		return faultf(CodeConfig,
			"AddServer: %s comes with a path, which %s:// has none of: give %[1]s", place(u), u.Scheme)
	}
	if len(c.servers) > 0 && websocket(u) != websocket(c.servers[0]) {
		return faultf(CodeConfig, "AddServer: %s and %s are of different kinds: give "+
			"websockets (wss://) only, or none", place(c.servers[0]), place(u))
	}
	c.servers = append(c.servers, u)
	return nil
}

// place returns scheme and host of an address. Logs may show only these, because path and query may
// hold a secret.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host }

// withoutUser returns an address without the part before an @, because that part may hold a secret.
func withoutUser(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "..." + address[at:]
	}
	return address
}

// usablePort reports whether one can dial the port of an address. The port is "" if the address has
// none.
func usablePort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func websocket(u *url.URL) bool { return u.Scheme == "ws" || u.Scheme == "wss" }

// SetCA sets the authorities that may sign the server's certificate, as PEM text. It replaces the
// settings of SetTrust and Enroll. Without these three, the client trusts the system's authorities
// as Go finds them. On Android these are in /system/etc/security/cacerts, as the phone was sold.
// Only the platform knows the authorities that updates and the user added: pass its decision with
// SetTrust.
func (c *Config) SetCA(pem string) (err error) {
	defer guard(&err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(pem)) {
		return faultf(CodeConfig,
			"SetCA: %d bytes have no certificate: give PEM text (-----BEGIN CERTIFICATE-----)", len(pem))
	}
	c.SetTrust(nil)
	c.roots = roots
	return nil
}

// SetCredentials sets the device's credentials: the text of a NATS credentials file, or the
// seed of a user's nkey (SU...). If the text names the coordinator's key, as a file of
// `zofl device add` does, it sets Coordinator.
func (c *Config) SetCredentials(text string) (err error) {
	defer guard(&err)
	option, err := creds.Option(text)
	if err != nil {
		return &fault{CodeCredentials, err}
	}
	keys, err := signed.KeysIn(text)
	if err != nil {
		return faultf(CodeCredentials, "the coordinator's key is damaged: %v", err)
	}
	if keys != nil {
		c.Coordinator = keys.String()
	}
	c.credentials = option
	return nil
}

// SetObjective sets the loss in simple mode. It replaces the loss of the other modes.
func (c *Config) SetObjective(objective Objective) {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	c.callbacks.whole, c.callbacks.byBlocks = objective, nil
	c.callbacks.byBatches = nil
}

// SetBlockObjective sets the loss in block mode. It replaces the loss of the other modes.
func (c *Config) SetBlockObjective(objective BlockObjective) {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	c.callbacks.whole, c.callbacks.byBlocks = nil, objective
	c.callbacks.byBatches = nil
}

// SetBatchObjective sets the losses in batch mode. It replaces the loss of the other modes.
func (c *Config) SetBatchObjective(objective BatchObjective) {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	c.callbacks.whole, c.callbacks.byBlocks, c.callbacks.byBatches = nil, nil, objective
}

// SetEvaluator sets the evaluator of the model; nil: none.
func (c *Config) SetEvaluator(evaluator Evaluator) {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	c.callbacks.evaluator = evaluator
}

// SetListener sets the listener for progress; nil: none.
func (c *Config) SetListener(listener Listener) { c.listener = listener }

// SetInitial sets the first parameters, for a plan with initial=given: 4 bytes a parameter,
// little-endian float32. They are copied.
func (c *Config) SetInitial(params []byte) (err error) {
	defer guard(&err)
	if len(params) == 0 || len(params)%floatBytes != 0 {
		return faultf(CodeConfig, "SetInitial: %d bytes: give 4 a parameter", len(params))
	}
	c.initial = getFloats(params)
	return nil
}

// SetRunKey sets the secret run key of a private run, 32 bytes. They are copied.
func (c *Config) SetRunKey(key []byte) (err error) {
	defer guard(&err)
	if len(key) == 0 {
		return faultf(CodeConfig, "SetRunKey: no bytes: give the 32 that the plan was made with")
	}
	c.runKey = bytes.Clone(key)
	return nil
}

// check reports errors in the settings that package client does not check.
func (c *Config) check() error {
	switch {
	case c == nil:
		return faultf(CodeConfig, "Config is null: make one with NewConfig")
	case c.callbacks.whole == nil && c.callbacks.byBlocks == nil && c.callbacks.byBatches == nil:
		return faultf(CodeConfig,
			"no objective: call SetObjective or SetBlockObjective; a Config makes one client")
	case plan.CheckName(c.Device) != nil:
		return faultf(CodeConfig, "Device: give each device a name of its own: %v",
			plan.CheckName(c.Device))
	case c.Dim < 1:
		return faultf(CodeConfig, "Dim = %d: give the model's number of parameters", c.Dim)
	case uint64(c.Dim) > min(plan.MaxDim, math.MaxInt/floatBytes):
		return faultf(CodeConfig, "Dim = %d: give at most %d parameters",
			c.Dim, uint64(min(plan.MaxDim, math.MaxInt/floatBytes)))
	case c.initial != nil && len(c.initial) != c.Dim:
		return faultf(CodeConfig, "SetInitial: %d parameters, and Dim = %d: give Dim of them",
			len(c.initial), c.Dim)
	case c.callbacks.whole != nil && c.Dim > MaxBlock:
		return faultf(CodeConfig, "Dim = %d: simple mode passes an array of all parameters, at most "+
			"%d: call SetBlockObjective", c.Dim, MaxBlock)
	case c.Samples < 0:
		return faultf(CodeConfig, "Samples = %d: give the number of samples, or 0", c.Samples)
	case c.MemoryLimit < 0:
		return faultf(CodeConfig, "MemoryLimit = %d: give the number of bytes, or 0",
			c.MemoryLimit)
	case c.MaxBatch < 0:
		return faultf(CodeConfig, "MaxBatch = %d: give the number of samples, or 0", c.MaxBatch)
	case (&deviceinfo.Device{Program: c.About}).Check() != nil:
		return faultf(CodeConfig, "About: %v", (&deviceinfo.Device{Program: c.About}).Check())
	case c.MinBattery < 0 || c.MinBattery > 100:
		return faultf(CodeConfig, "MinBattery = %d: give 0 to 100 percent", c.MinBattery)
	case len(c.servers) == 0:
		return faultf(CodeConfig,
			"no server: call AddServer, for instance with tls://zofl.example.org:4222")
	}
	for _, u := range c.servers {
		if err := c.checkServer(u); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkServer(u *url.URL) error {
	switch {
	case c.Plaintext && !loopback(u.Hostname()):
		return faultf(CodeInsecure, "Plaintext is set and %s is not this machine: "+
			"give an address such as 127.0.0.1, or tls:// and leave Plaintext out", place(u))
	case !c.Plaintext && u.Scheme == "ws":
		return faultf(CodeInsecure,
			"%s has no TLS: give wss://, or set Plaintext for an address of this machine", place(u))
	}
	return nil
}

// workers returns the number of goroutines for client.Config.Workers.
func (c *Config) workers() int { return min(c.Workers, runtime.NumCPU()) }

// values returns the settings without the callbacks.
func (c *Config) values() Config {
	return Config{
		Run: c.Run, Device: c.Device, Dim: c.Dim, StateDir: c.StateDir, Plaintext: c.Plaintext,
		servers: c.servers, roots: c.roots, pin: c.pin, credentials: c.credentials,
		asksTrust: c.asksTrust, keys: slices.Clone(c.keys),
	}
}

// loopback says whether a host's name means this machine, without resolving the name.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// overTLS reports whether any server address asks for TLS.
func (c *Config) overTLS() bool {
	return slices.ContainsFunc(c.servers,
		func(u *url.URL) bool { return u.Scheme == "tls" || u.Scheme == "wss" })
}

// urls returns the addresses of the servers, in the form that nats.Connect takes.
func (c *Config) urls() []string {
	list := make([]string, len(c.servers))
	for i, u := range c.servers {
		list[i] = u.String()
	}
	return list
}

// String shows the settings that are not secret.
func (c *Config) String() string {
	return fmt.Sprintf("Config{Run: %s, Device: %s, Dim: %d, StateDir: %s}",
		c.Run, c.Device, c.Dim, c.StateDir)
}
