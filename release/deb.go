package main

import (
	"io"
	"io/fs"
	"os"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// pack makes the Debian package of a program, with the program and the systemd unit that runs the
// program.
func (b *build) pack(p *program) error {
	if p.target.deb == "" {
		return nil
	}
	copyright := b.in("bin", p.target.file(), p.name+".copyright")
	if err := os.WriteFile(copyright, p.notices, 0o644); err != nil {
		return err
	}
	info := b.describe(p)
	info.Contents = append(info.Contents,
		file(p.file, "/usr/bin/"+p.name, 0o755),
		file(copyright, "/usr/share/doc/"+p.name+"/copyright", 0o644),
		file(b.in("src", "CHANGELOG.md"), "/usr/share/doc/"+p.name+"/CHANGELOG.md", 0o644),
		&files.Content{Type: files.TypeDir, Destination: "/etc/" + p.name,
			FileInfo: &files.ContentFileInfo{Mode: 0o755}})
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	name := b.dist("%s_%s_%s.deb", p.name, b.version, p.target.deb)
	return writeFile(name, func(w io.Writer) error { return deb.Default.Package(info, w) })
}

// describe describes a package, and lists the files of its own.
func (b *build) describe(p *program) *nfpm.Info {
	info := &nfpm.Info{
		Name:       p.name,
		Arch:       p.target.deb,
		Version:    b.version, // of which nfpm makes 0.1.0~dev...
		Section:    "net",
		Priority:   "optional",
		Maintainer: "The Zofl authors <zofl@users.noreply.github.com>",
		Homepage:   "https://github.com/zofl/zofl",
		License:    "Apache-2.0",
		MTime:      b.at,
		Overridables: nfpm.Overridables{
			// The programs need no other package. The units and the units' users need systemd.
			Recommends: []string{"systemd"},
			Deb:        nfpm.Deb{Compression: "gzip:6"}, // xz: a tenth less, for many times the work
		},
	}
	if p.recipe == sensor {
		b.describeSensor(info)
	} else {
		b.describeZofl(info)
	}
	return info
}

func (b *build) describeZofl(info *nfpm.Info) {
	info.Description = "train one model on many devices that can only evaluate it\n" +
		"The program zofl: coordinator, example device and operator's tool of federated\n" +
		"zeroth-order optimization. The unit zofl@NAME leads the run of /etc/zofl/NAME.json."
	info.Contents = files.Contents{
		file(b.debian("zofl@.service"), "/usr/lib/systemd/system/zofl@.service", 0o644),
		file(b.debian("sysusers.conf"), "/usr/lib/sysusers.d/zofl.conf", 0o644),
	}
	for _, e := range b.share {
		info.Contents = append(info.Contents, file(e.file, "/usr/share/"+e.name, 0o644))
	}
	info.Scripts = nfpm.Scripts{PostInstall: b.debian("postinst"), PreRemove: b.debian("prerm"),
		PostRemove: b.debian("postrm")}
}

func (b *build) describeSensor(info *nfpm.Info) {
	info.Description = "forecasts of sensors that learn together, for Home Assistant\n" +
		"The agent zofl-sensor reads sensors, trains a forecast with other devices and keeps the\n" +
		"readings to itself. The unit zofl-sensor runs it with /etc/zofl-sensor/sensor.conf."
	from := func(name string) string { return b.in("src", "examples", "sensor", name) }
	conf := file(from("sensor.conf"), "/etc/zofl-sensor/sensor.conf", 0o644)
	conf.Type = files.TypeConfigNoReplace // an upgrade keeps what a person wrote
	info.Contents = files.Contents{conf,
		file(from("zofl-sensor.service"), "/usr/lib/systemd/system/zofl-sensor.service", 0o644),
		file(from("README.md"), "/usr/share/doc/zofl-sensor/README.md", 0o644),
	}
	info.Scripts = nfpm.Scripts{PostInstall: b.debian("sensor", "postinst"),
		PreRemove: b.debian("sensor", "prerm"), PostRemove: b.debian("sensor", "postrm")}
}

// debian returns the path of a file in this package's folder debian.
func (b *build) debian(names ...string) string {
	return b.in(append([]string{"src", "release", "debian"}, names...)...)
}

func file(from, to string, mode fs.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to,
		FileInfo: &files.ContentFileInfo{Mode: mode}}
}
