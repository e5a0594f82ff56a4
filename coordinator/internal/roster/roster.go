// Package roster writes and reads lists of members as text that shows any damage. Each batch ends
// with a digest of itself and of the batch before. Logs store such batches.
package roster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A batch is text:
//
//	zofl roster 2
//	log <hash of record 1, if the log had one>
//	+<id of a member, which gets the next slot>
//	-<id of a member that is retired>
//	sha256 <digest of the batch before and the lines above>
const (
	Head     = "zofl roster 2\n"
	logWord  = "log "
	sealWord = "sha256 "
)

// A Sum is the digest of a batch and all batches before it. The zero value is the sum of no batch.
type Sum [sha256.Size]byte

// Then returns the sum after another batch. text is the text of that batch without its last line.
func (s Sum) Then(text []byte) Sum { return sha256.Sum256(append(s[:len(s):len(s)], text...)) }

// An Entry is a change of the roster.
type Entry struct {
	ID      string
	Retired bool // the member ID is retired; otherwise ID is added
}

// A Batch is a list of changes.
type Batch struct {
	Log     wire.Hash // of record 1; zero if the log had none
	Entries []Entry
}

// Whole returns the one batch that makes a whole roster.
func Whole(log wire.Hash, members, retired []string) Batch {
	b := Batch{Log: log, Entries: make([]Entry, 0, len(members)+len(retired))}
	for _, id := range members {
		b.Entries = append(b.Entries, Entry{ID: id})
	}
	for _, id := range retired {
		b.Entries = append(b.Entries, Entry{ID: id, Retired: true})
	}
	return b
}

// Seal returns the text of b, for a place after a batch with sum prev, and the sum of b.
func (b Batch) Seal(prev Sum) (text []byte, sum Sum) {
	text = append(text, Head...)
	if b.Log != (wire.Hash{}) {
		text = append(hex.AppendEncode(append(text, logWord...), b.Log[:]), '\n')
	}
	for _, e := range b.Entries {
		text = append(append(append(text, sign(e.Retired)), e.ID...), '\n')
	}
	sum = prev.Then(text)
	return append(hex.AppendEncode(append(text, sealWord...), sum[:]), '\n'), sum
}

func sign(retired bool) byte {
	if retired {
		return '-'
	}
	return '+'
}

// Open reads a text that Seal returned for the same prev. For any other text, Open returns an error
// that matches [runlog.ErrCorrupt].
func Open(text []byte, prev Sum) (b Batch, sum Sum, err error) {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	for i, line := range lines {
		line := string(bytes.TrimSuffix(line, []byte{'\n'}))
		switch {
		case i == 0 || line == "":
		case line[0] == sign(false), line[0] == sign(true):
			if err := plan.CheckName(line[1:]); err != nil {
				return b, sum, fmt.Errorf("line %d: %w: %w", i+1, runlog.ErrCorrupt, err)
			}
			b.Entries = append(b.Entries, Entry{line[1:], line[0] == sign(true)})
		case len(line) == len(logWord)+2*len(b.Log) && line[:len(logWord)] == logWord:
			_, _ = hex.Decode(b.Log[:], []byte(line[len(logWord):])) // compared below
		}
	}
	sealed, sum := b.Seal(prev)
	if !bytes.Equal(sealed, text) {
		return b, sum, fmt.Errorf("%w: checksum differs", runlog.ErrCorrupt)
	}
	return b, sum, nil
}

// Follow returns members and retired after the batch. The error matches [runlog.ErrCorrupt] if the
// batch retires an id that is no member.
func (b Batch) Follow(members, retired []string) (after, left []string, err error) {
	known := map[string]bool{}
	for _, e := range b.Entries {
		switch {
		case !e.Retired:
			members = append(members, e.ID)
			continue
		case len(known) == 0:
			for _, id := range members {
				known[id] = true
			}
		}
		if !known[e.ID] {
			return nil, nil, fmt.Errorf("%w: %q is retired and no member", runlog.ErrCorrupt, e.ID)
		}
		retired = append(retired, e.ID)
	}
	return members, retired, nil
}
