package device

import (
	"runtime"

	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/wire/about"
)

// self is what a device of this program tells the operator.
func self() about.Device {
	return about.Device{
		Program:  cut("zofl "+version.String(), about.MaxProgram),
		Platform: cut(runtime.GOOS+"/"+runtime.GOARCH, about.MaxPlatform),
	}
}

func cut(text string, most int) string { return text[:min(len(text), most)] }
