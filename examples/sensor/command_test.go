package main

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
)

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "--help", "help"} {
		var out strings.Builder
		if err := run(t.Context(), []string{arg}, &out, nil); err != nil ||
			!strings.Contains(out.String(), "plan") {
			t.Errorf("%s: error %v and %q, want the usage", arg, err, out.String())
		}
	}
}

// A plan can be made on a machine that has neither the devices' files nor their secrets.
func TestPlanAnywhere(t *testing.T) {
	path := configtest.File(t, "url = nats://broker\ncreds = /nowhere\nsecret = "+
		"/nowhere\nsource = sysfs /nowhere\nchannel = x\n")
	var out strings.Builder
	if err := run(t.Context(), []string{"plan", path}, &out, quiet); err != nil ||
		!strings.Contains(out.String(), `"dim"`) {
		t.Errorf("error %v, printed %.80s", err, out.String())
	}
}
