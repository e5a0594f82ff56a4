package mobile_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zofl/zofl/client/mobile"
)

// A bowl is the app's loss in simple mode: the parameters are 4 bytes each, little-endian.
type bowl struct{}

func (bowl) Loss(params []byte) (sum float64, err error) {
	for ; len(params) > 0; params = params[4:] {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(params)))
		sum += (x - 3) * (x - 3)
	}
	return sum, nil
}

// The example shows the calls of an app, here in Go. Without a network the client waits and returns
// no error.
func Example() {
	config := mobile.NewConfig()
	config.Run, config.Device, config.Dim = "digits", "phone-7", 2
	config.SetObjective(bowl{})
	_, err := mobile.NewClient(config) // the config lacks a server
	fmt.Println(mobile.ErrorCode(err.Error()))

	config.Plaintext = true // to this machine only
	config.AddServer("nats://127.0.0.1:1")
	client, err := mobile.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = client.RunFor(100) // milliseconds, as an operating system grants them
	fmt.Println(mobile.StateName(client.State()), client.Contributions(), err)
	client.Stop()
	fmt.Println(mobile.StateName(client.State()))
	// Output:
	// config
	// idle 0 <nil>
	// stopped
}
