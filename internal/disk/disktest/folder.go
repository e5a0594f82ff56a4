package disktest

import "maps"

// A node is a file or a folder.
type node struct {
	file   *file
	folder *folder
}

// A rename is a change of a name: a creation (from is empty), a removal (to is
// empty) or a renaming.
type rename struct {
	from, to string
	node     *node
}

func (r *rename) apply(names map[string]*node) {
	if r.from != "" && names[r.from] == r.node {
		delete(names, r.from)
	}
	if r.to != "" {
		names[r.to] = r.node
	}
}

// A folder has two lists of names: the names that programs see, and the names that the disk has.
//
// Invariant: names is durable with all changes applied.
type folder struct {
	names   map[string]*node
	durable map[string]*node
	changes []rename
}

func newFolder() *folder {
	return &folder{names: map[string]*node{}, durable: map[string]*node{}}
}

func (f *folder) change(r rename) {
	r.apply(f.names)
	f.changes = append(f.changes, r)
}

func (f *folder) sync() {
	f.durable, f.changes = maps.Clone(f.names), nil
}

// settle decides which names survive a power cut.
func (f *folder) settle(pick func(options int) int) {
	if len(f.changes) == 0 {
		return
	}
	for _, r := range f.changes {
		options := 2
		if r.from != "" && r.to != "" {
			options = 3
		}
		switch pick(options) {
		case 0:
			r.apply(f.durable)
		case 2:
			f.durable[r.to] = r.node
		}
	}
	f.names, f.changes = maps.Clone(f.durable), nil
}

// A copier copies a tree of nodes. A node with two names becomes one node with two names.
type copier map[*node]*node

func (c copier) node(n *node) *node {
	if m, ok := c[n]; ok {
		return m
	}
	m := &node{}
	c[n] = m
	if n.file != nil {
		m.file = n.file.clone()
	}
	if f := n.folder; f != nil {
		m.folder = &folder{names: c.names(f.names), durable: c.names(f.durable)}
		for _, r := range f.changes {
			m.folder.changes = append(m.folder.changes, rename{r.from, r.to, c.node(r.node)})
		}
	}
	return m
}

func (c copier) names(names map[string]*node) map[string]*node {
	out := make(map[string]*node, len(names))
	for name, n := range names {
		out[name] = c.node(n)
	}
	return out
}
