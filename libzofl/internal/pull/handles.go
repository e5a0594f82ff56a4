package pull

import (
	"math"
	"sync"
)

// most bounds the devices of a process: each has a connection and goroutines.
const most = 1 << 16

// handles are the devices that are open, by their numbers.
var handles = struct {
	sync.Mutex
	devices map[int32]*Device
	last    int32
}{devices: map[int32]*Device{}}

// Open begins to take part in a run, and returns the number of its Device, which is positive.
func Open(cfg Config) (number int32, err error) {
	d, err := open(cfg)
	if err != nil {
		return 0, err
	}
	if number = add(d); number == 0 {
		d.close()
		return 0, badConfig("%d devices are open in this process: close some", most)
	}
	return number, nil
}

// add gives a device a number that no device has and that none had lately; 0: there are too many.
func add(d *Device) int32 {
	handles.Lock()
	defer handles.Unlock()
	if len(handles.devices) >= most {
		return 0
	}
	for {
		if handles.last++; handles.last == math.MaxInt32 {
			handles.last = 1
		}
		if handles.devices[handles.last] == nil {
			handles.devices[handles.last] = d
			return handles.last
		}
	}
}

// Find returns the Device of a number.
func Find(number int32) (*Device, error) {
	handles.Lock()
	defer handles.Unlock()
	if d := handles.devices[number]; d != nil {
		return d, nil
	}
	return nil, noDevice(number)
}

func noDevice(number int32) error {
	return faultf(BadHandle, "handle = %d: no open device has it: give what zofl_open returned",
		number)
}

// Close ends a Device, and gives its number back.
func Close(number int32) error {
	handles.Lock()
	d := handles.devices[number]
	delete(handles.devices, number)
	handles.Unlock()
	if d == nil {
		return noDevice(number)
	}
	d.close()
	return nil
}
