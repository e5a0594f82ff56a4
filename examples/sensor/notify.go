package main

import (
	"net"
	"os"
	"strconv"
	"time"
)

// notify sends systemd a state, such as READY=1, as sd_notify(3) does. Without systemd it
// does nothing.
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	if name[0] == '@' { // an abstract socket
		name = "\x00" + name[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte(state))
	return err
}

// watchdog returns the interval at which to notify systemd: half the time after which systemd
// kills a silent service. If systemd expects no notifications, watchdog returns false.
func watchdog() (time.Duration, bool) {
	us, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	return time.Duration(us) * time.Microsecond / 2, err == nil && us > 1
}
