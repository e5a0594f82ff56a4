package device

import (
	"runtime"

	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// self is what a device of this program says about itself.
func self() deviceinfo.Device {
	return deviceinfo.Device{
		Program:  cut("zofl "+version.String(), deviceinfo.MaxProgram),
		Platform: cut(runtime.GOOS+"/"+runtime.GOARCH, deviceinfo.MaxPlatform),
	}
}

func cut(text string, most int) string { return text[:min(len(text), most)] }
