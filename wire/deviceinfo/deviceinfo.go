// Package deviceinfo defines what a device tells the operator about itself, and how a join request
// carries this information. No replica reads the information, and no round depends on it.
package deviceinfo

import (
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/internal/codec"
)

// Longest texts in bytes.
const (
	MaxProgram  = 48
	MaxPlatform = 32
)

// Power says what powers a device.
type Power uint8

const (
	PowerUntold Power = 0
	OnBattery   Power = 1
	Charging    Power = 2 // or the device is on mains power
)

// String returns "battery", "charging", or "" if the device did not say.
func (p Power) String() string { return name(uint8(p), "", "battery", "charging") }

// Network says whether traffic costs the device's owner money.
type Network uint8

const (
	NetworkUntold Network = 0
	Unmetered     Network = 1
	Metered       Network = 2
)

// String returns "unmetered", "metered", or "" if the device did not say.
func (n Network) String() string { return name(uint8(n), "", "unmetered", "metered") }

func name(i uint8, names ...string) string { return names[min(int(i), len(names))%len(names)] }

// A Device is what a device says about itself. The zero value says nothing. Texts are printable
// ASCII.
type Device struct {
	Program  string // name and version, such as "pantry 1.4"; at most MaxProgram bytes
	Platform string // such as "linux/arm64"; at most MaxPlatform bytes
	Battery  uint8  // charge in percent; 0: not told
	Power    Power
	Network  Network
}

// Check returns an error if a request cannot carry d.
func (d *Device) Check() error {
	switch {
	case !printable(d.Program, MaxProgram):
		return fmt.Errorf("Program = %q: give at most %d printable ASCII characters",
			d.Program, MaxProgram)
	case !printable(d.Platform, MaxPlatform):
		return fmt.Errorf("Platform = %q: give at most %d printable ASCII characters",
			d.Platform, MaxPlatform)
	case d.Battery > 100:
		return fmt.Errorf("Battery = %d: give percent, at most 100", d.Battery)
	case d.Power > Charging:
		return fmt.Errorf("Power = %d: give OnBattery or Charging", d.Power)
	case d.Network > Metered:
		return fmt.Errorf("Network = %d: give Unmetered or Metered", d.Network)
	}
	return nil
}

// printable says whether a text is safe to show in a terminal, whoever sent the text.
func printable(text string, most int) bool {
	return len(text) <= most &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// Append appends d to the rest of a join request, after the wire.Known with which it begins: the
// array [program, platform, battery, power, network].
func (d *Device) Append(rest []byte) []byte {
	rest = codec.AppendArray(rest, 5)
	rest = codec.AppendText(rest, d.Program, MaxProgram)
	rest = codec.AppendText(rest, d.Platform, MaxPlatform)
	rest = codec.AppendUint(rest, uint64(d.Battery))
	rest = codec.AppendUint(rest, uint64(d.Power))
	return codec.AppendUint(rest, uint64(d.Network))
}

// Of returns what a device says about itself, given the rest that method Known of its join request
// returned, and the bytes after it, for [ValuesOf]. ok is false if this version cannot read the
// information.
func Of(rest []byte) (d Device, more []byte, ok bool) {
	in := codec.NewReader("about", rest)
	in.Tuple("about", 5)
	d = Device{
		Program:  in.String("program", MaxProgram),
		Platform: in.String("platform", MaxPlatform),
		Battery:  uint8(in.Uint("battery", 100)),
		Power:    Power(in.Uint("power", math.MaxUint8)),
		Network:  Network(in.Uint("network", math.MaxUint8)),
	}
	if d.Power > Charging {
		d.Power = PowerUntold // of a later version
	}
	if d.Network > Metered {
		d.Network = NetworkUntold
	}
	if !in.OK() || d.Check() != nil {
		return Device{}, nil, false
	}
	return d, in.Rest(), true
}
