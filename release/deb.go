package main

import (
	"io"
	"io/fs"
	"os"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// pack makes the Debian package: the program, and the unit that leads a run with it.
func (b *build) pack(p *program) error {
	if p.target.deb == "" {
		return nil
	}
	copyright := b.in("bin", p.target.file(), "copyright")
	if err := os.WriteFile(copyright, p.notices, 0o644); err != nil {
		return err
	}
	from := func(name string) string { return b.in("src", "release", "debian", name) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name:       "zofl",
		Arch:       p.target.deb,
		Version:    b.version, // of which nfpm makes 0.1.0~dev...
		Section:    "net",
		Priority:   "optional",
		Maintainer: "The Zofl authors <zofl@users.noreply.github.com>",
		Homepage:   "https://github.com/zofl/zofl",
		Description: "train one model on many devices that can only evaluate it\n" +
			"The program zofl: coordinator, example device and operator's tool of federated\n" +
			"zeroth-order optimization. The unit zofl@NAME leads the run of /etc/zofl/NAME.json.",
		License: "Apache-2.0",
		MTime:   b.at,
		Overridables: nfpm.Overridables{
			// The program needs nothing. Its unit does, and so does the unit's user.
			Recommends: []string{"systemd"},
			Contents: files.Contents{
				file(p.file, "/usr/bin/zofl", 0o755),
				file(from("zofl@.service"), "/usr/lib/systemd/system/zofl@.service", 0o644),
				file(from("sysusers.conf"), "/usr/lib/sysusers.d/zofl.conf", 0o644),
				file(copyright, "/usr/share/doc/zofl/copyright", 0o644),
				file(b.in("src", "CHANGELOG.md"), "/usr/share/doc/zofl/CHANGELOG.md", 0o644),
				{Type: files.TypeDir, Destination: "/etc/zofl",
					FileInfo: &files.ContentFileInfo{Mode: 0o755}},
			},
			Scripts: nfpm.Scripts{PostInstall: from("postinst"), PreRemove: from("prerm"),
				PostRemove: from("postrm")},
			Deb: nfpm.Deb{Compression: "gzip:6"}, // xz: a tenth less, for many times the work
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	return writeFile(b.dist("zofl_%s_%s.deb", b.version, p.target.deb), func(w io.Writer) error {
		return deb.Default.Package(info, w)
	})
}

func file(from, to string, mode fs.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to,
		FileInfo: &files.ContentFileInfo{Mode: mode}}
}
