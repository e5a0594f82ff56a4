package main

import (
	"io"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes the software bill of materials of a program: the modules that Go reports.
func (b *build) bill(p *program) error {
	sum, err := sumOf(p.file)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: b.at.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: p.name, Type: p.recipe.kind(), Name: p.name, Version: b.version,
			PackageURL: purl(p.info.Main.Path, b.version),
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}},
			Properties: &[]cdx.Property{{Name: "platform", Value: p.target.String()},
				{Name: "commit", Value: b.revision}},
		},
	}
	components := []cdx.Component{library("std", strings.TrimPrefix(p.info.GoVersion, "go"))}
	for _, m := range p.info.Deps {
		version := m.Version
		if m.Replace != nil { // Zofl's own, of the same commit
			version = b.version
		}
		components = append(components, library(m.Path, version))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: p.name, Dependencies: &refs}}
	name := b.dist("%s_%s_%s.cdx.json", p.name, b.version, p.target.file())
	return writeFile(name, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).
			EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// library returns the component for a module that is in the program.
func library(path, version string) cdx.Component {
	return cdx.Component{BOMRef: purl(path, version), Type: cdx.ComponentTypeLibrary, Name: path,
		Version: version, PackageURL: purl(path, version)}
}

// purl returns the package URL of a module: https://github.com/package-url/purl-spec. Of the
// characters in versions of modules, only the plus sign needs an escape.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// kind is what a bill of materials calls what a recipe makes.
func (r *recipe) kind() cdx.ComponentType {
	if r.library {
		return cdx.ComponentTypeLibrary
	}
	return cdx.ComponentTypeApplication
}
