package cli

import (
	"errors"
	"strconv"
	"strings"
)

// A ByteCount is the value of a flag that takes a number of bytes: 67108864, 64MiB or 64MB.
type ByteCount int64

// units are the endings of a size. As in the configuration of nats-server, all endings mean powers
// of 1024.
var units = []struct {
	ending string
	bytes  int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1},
}

var errSize = errors.New("give a number of bytes, such as 67108864 or 64MiB")

// Set implements [pflag.Value].
func (s *ByteCount) Set(text string) error {
	digits, factor := strings.ToLower(strings.TrimSpace(text)), int64(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(digits, u.ending); ok {
			digits, factor = strings.TrimSpace(number), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return errSize
	}
	*s = ByteCount(n * factor)
	return nil
}

func (s *ByteCount) String() string { return strconv.FormatInt(int64(*s), 10) }

// Type implements [pflag.Value].
func (s *ByteCount) Type() string { return "bytes" }
