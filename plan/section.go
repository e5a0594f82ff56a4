package plan

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// A Section is a part of a plan: the fields of one topic. Files, tables and the godoc list the
// fields of a section together.
type Section struct {
	Name   string // in files, messages and flags
	Doc    string
	fields []Field
}

// Sections lists the sections of a plan. In plan files the fields of the first section, run, are
// not nested but stand beside the other sections.
func Sections() []Section {
	list := make([]Section, len(planSections))
	for i, s := range planSections {
		list[i] = *s
	}
	return list
}

// Fields lists the fields of a section by ascending number.
func (s *Section) Fields() []Field { return slices.Clone(s.fields) }

// planSections is the only list of the sections. Each section has its own file.
var planSections = []*Section{
	&runSection, &modelSection, &probeSection, &surrogateSection, &groupsSection, &localSection,
	&serverSection, &aggregateSection, &robustSection, &privacySection, &roundsSection,
	&lateSection, &evaluationSection, &stopSection,
}

// planFields are the fields of all sections by ascending number.
var planFields = mergeSections()

func mergeSections() (list []Field) {
	values := map[string][]int{}
	for _, v := range reflect.VisibleFields(reflect.TypeFor[Plan]()) {
		values[strings.ToLower(v.Name)] = v.Index
	}
	for _, s := range planSections {
		for i := range s.fields {
			f := &s.fields[i]
			f.Section = s.Name
			f.index = values[strings.ToLower(cmp.Or(f.goName, strings.ReplaceAll(f.Name, "_", "")))]
		}
		list = append(list, s.fields...)
	}
	slices.SortFunc(list, func(a, b Field) int { return cmp.Compare(a.Number, b.Number) })
	return list
}
