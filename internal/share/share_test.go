package share

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// drawAll draws pieces until there is none left, and returns their bytes.
func drawAll(s *Shares, name string, piece int) (sum int) {
	for {
		if left, _ := s.Left(name); !left {
			return sum
		}
		s.Draw(name, piece)
		sum += piece
	}
}

// A device draws four copies at once, and then one an hour, in pieces of any size.
func TestCopies(t *testing.T) {
	for _, whole := range []int{1000 * mib, 10_000 * mib} {
		for _, piece := range []int{60 << 10, 1 << 20} {
			synctest.Test(t, func(t *testing.T) {
				s := &Shares{}
				s.Has(int64(whole))
				if got := drawAll(s, "a", piece); got < 4*whole || got > 4*whole+piece {
					t.Errorf("%d at once of %d bytes, want four copies", got, whole)
				}
				time.Sleep(time.Hour)
				got := drawAll(s, "a", piece)
				if want := max(whole, 3600*leastRate); got < want-piece || got > want+piece {
					t.Errorf("%d of %d bytes an hour later, want a copy", got, whole)
				}
				if got := drawAll(s, "b", piece); got < 4*whole {
					t.Errorf("another device has %d bytes", got)
				}
			})
		}
	}
}

// Of little a device may draw more copies, and short answers count more than their bytes.
func TestLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Shares{}
		s.Has(1000)
		if got := drawAll(s, "a", 1000); got < leastAtOnce || got > leastAtOnce+1000 {
			t.Errorf("%d bytes at once, want %d", got, leastAtOnce)
		}
		if got := drawAll(s, "b", 8); got > leastAtOnce/least*8 {
			t.Errorf("%d bytes in short answers", got)
		}
		time.Sleep(time.Minute)
		if got := drawAll(s, "a", 1000); got < 59*leastRate || got > 61*leastRate {
			t.Errorf("%d bytes a minute later, want %d", got, 60*leastRate)
		}
	})
}

// Who follows a log or a model that grows, or is replaced, draws twice what is new, for ever.
func TestNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		grows, replaced := &Shares{}, &Shares{}
		whole := 0
		for i := range 500 {
			whole += mib
			grows.Has(int64(whole))
			replaced.Has(50 * mib)
			replaced.Add(50 * mib)
			for _, tt := range []struct {
				s     *Shares
				bytes int
			}{{grows, mib}, {replaced, 50 * mib}} {
				for range 2 {
					if left, _ := tt.s.Left("d"); !left {
						t.Fatalf("step %d: nothing left", i)
					}
					tt.s.Draw("d", tt.bytes)
				}
			}
		}
		// One who draws all of it again and again does not.
		drawAll(replaced, "x", mib)
		replaced.Add(50 * mib)
		if got := drawAll(replaced, "x", mib); got > 101*mib {
			t.Errorf("%d MiB for 50 new ones", got/mib)
		}
	})
}

// A refusal is told once an hour, and a share of many names counts for them together.
func TestToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := &Shares{Times: 64}, 0
		if got := drawAll(s, "", mib); got < 64*leastAtOnce {
			t.Errorf("%d bytes for all, want those of 64", got)
		}
		for range 4 * 3600 {
			if _, tell := s.Left(""); tell {
				told++
			}
			time.Sleep(time.Second / 2)
			s.Draw("", 64*leastRate)
		}
		if told != 1 {
			t.Errorf("told %d times in two hours after the first time, want once", told)
		}
	})
}

// Made-up names take a bounded memory, and cost a name that draws nothing of its share.
func TestManyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Shares{}
		drawAll(s, "flood", mib)
		for i := range mostDevices {
			s.Draw(fmt.Sprint(i), 1)
			if i == mostDevices-2 {
				time.Sleep(time.Second) // the others have their share again
			}
		}
		if len(s.of) > mostDevices {
			t.Errorf("%d names", len(s.of))
		}
		if left, _ := s.Left("flood"); left && s.of["flood"] == nil {
			t.Error("the flood is forgotten though others have all of their share")
		}
	})
}
