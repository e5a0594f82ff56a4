package transcript

import (
	"flag"
	"testing"
	"testing/synctest"
)

var update = flag.Bool("update", false, "write the files anew")

// TestTranscripts plays each file to a client. With -update it first writes the file.
func TestTranscripts(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if *update {
				synctest.Test(t, func(t *testing.T) {
					w := s.run(t)
					f := file{about: s.about, head: w.head, lines: w.finish()}
					if err := f.write(s.name); err != nil {
						t.Fatal(err)
					}
				})
			}
			synctest.Test(t, func(t *testing.T) { play(t, s.name) })
		})
	}
}
