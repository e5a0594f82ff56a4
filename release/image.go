package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the numeric user and group with which the image's program runs. A Kubernetes cluster
// that refuses root checks the number.
const nobody = "65532:65532"

// image makes the OCI image of all its targets, as an archive of an OCI layout. The image
// contains the statically linked program, and no shell.
func (b *build) image(programs []*program) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		if !p.target.image {
			continue
		}
		img, err := b.imageOf(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: p.target.platform()}})
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) == 0 {
		return err
	}
	// The only entry of index.json is the index of the image. The entry's name is the name under
	// which tools load the image.
	outer := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": b.version,
			"io.containerd.image.name":          "ghcr.io/zofl/zofl:" + b.version,
		}}})
	if _, err := layout.Write(b.in("layout"), outer); err != nil {
		return err
	}
	entries, err := folder(b.in("layout"))
	if err != nil {
		return err
	}
	return writeFile(b.dist("zofl_%s_oci.tar", b.version), func(w io.Writer) error {
		return writeTar(w, entries, b.at)
	})
}

// imageOf makes the image of one target.
func (b *build) imageOf(p *program) (v1.Image, error) {
	var files bytes.Buffer
	if err := writeTar(&files, []entry{
		{name: "etc/passwd", mode: 0o644,
			content: []byte("zofl:x:65532:65532:Zofl:/data:/nonexistent\n")},
		{name: "etc/group", mode: 0o644, content: []byte("zofl:x:65532:\n")},
		{name: "usr/bin/zofl", mode: 0o755, file: p.file},
		{name: "usr/share/doc/zofl/copyright", mode: 0o644, content: p.notices},
		// A new volume takes the owner of the directory at which it is mounted.
		{name: "data/", mode: 0o700 | os.ModeDir, owner: 65532},
	}, b.at); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	if img, err = mutate.Append(img, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: b.at}, CreatedBy: "release"}}); err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	platform := p.target.platform()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture,
		platform.Variant
	config.Created = v1.Time{Time: b.at}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/zofl"}, User: nobody, WorkingDir: "/data",
		Volumes: map[string]struct{}{"/data": {}}, StopSignal: "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title":    "zofl",
			"org.opencontainers.image.version":  b.version,
			"org.opencontainers.image.revision": b.revision,
			"org.opencontainers.image.source":   "https://github.com/zofl/zofl",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(img, config)
}

// platform is the target's name in an image.
func (t target) platform() *v1.Platform {
	p := &v1.Platform{OS: t.os, Architecture: t.arch}
	if t.arm != "" {
		p.Variant = "v" + t.arm
	}
	return p
}
