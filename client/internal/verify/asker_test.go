package verify

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire/signed"
)

const subject = "zo.kitchen.j.d0"

// An exchange is a request, its answer, and forgeries of it.
type exchange struct {
	request, answer []byte
	forged          int
}

func (h host) exchange(i byte) *exchange {
	request := signed.Ask([]byte{i}, [signed.NonceLen]byte{i})
	answer := h.Answer(subject, signed.RequestOf(request), []byte("records"))
	return &exchange{request: request, answer: answer}
}

// forgery returns an answer that only a check of the signature can tell from the coordinator's
// answer.
func (e *exchange) forgery() []byte {
	e.forged++
	forged := append([]byte(nil), e.answer...)
	forged[e.forged%7] ^= byte(1 + e.forged%250)
	return forged
}

// TestAnswers: in a flood of forged answers, the asker checks a bounded number. The coordinator's
// own answer uses up no allowance, and neither does an answer that no key can have signed.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		a := NewAsker(signed.Keys{h.Key()})
		e := h.exchange(1)
		checked := func(answers int) (n int) {
			for range answers {
				err := a.check(subject, e.request, e.forgery())
				if errors.Is(err, signed.ErrUnsigned) {
					n++
				} else if !errors.Is(err, ErrFlood) {
					t.Fatalf("forged: %v", err)
				}
			}
			return n
		}
		if err := a.check(subject, e.request, e.answer); err != nil {
			t.Fatalf("the coordinator's: %v", err)
		}
		if err := a.check(subject, e.request, nil); !errors.Is(err, signed.ErrUnsigned) {
			t.Fatalf("unsigned: %v", err)
		}
		if n := checked(1500); n != answersAtOnce {
			t.Errorf("%d of 1500 at once were checked, want %d", n, answersAtOnce)
		}
		if err := a.check(subject, e.request, e.answer); !errors.Is(err, ErrFlood) {
			t.Errorf("the coordinator's, in a flood: %v", err)
		}
		if err := a.check(subject, e.request, nil); !errors.Is(err, signed.ErrUnsigned) {
			t.Errorf("unsigned, in a flood: %v", err)
		}
		time.Sleep(2 * time.Second)
		if n := checked(500); n != 2*answersPerSecond {
			t.Errorf("after two seconds %d, want %d", n, 2*answersPerSecond)
		}
		time.Sleep(time.Second)
		if err := a.check(subject, e.request, e.answer); err != nil {
			t.Errorf("the coordinator's, a second later: %v", err)
		}
	})
}

// TestRequestIsTakenBack: an asker waits for the coordinator's answer among forged answers, and
// gives up the request in a flood of them.
func TestRequestIsTakenBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		forged int
		err    error
	}{
		{"a few", 100, nil},
		{"a flood", answersAtOnce + mostUnread, ErrFlood},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, b := newHost(t), bus.NewMemory()
				defer b.Close()
				a := NewAsker(signed.Keys{h.Key()})
				_, err := b.Subscribe(subject, func(m bus.Message) {
					e := &exchange{answer: h.Answer(subject, signed.RequestOf(m.Data), []byte("records"))}
					for i := range tt.forged {
						if i%500 == 0 {
							time.Sleep(time.Millisecond) // the asker reads
						}
						b.Publish(m.Reply, e.forgery())
					}
					time.Sleep(time.Millisecond)
					b.Publish(m.Reply, e.answer)
				})
				if err != nil {
					t.Fatal(err)
				}
				answer, err := a.Request(t.Context(), b, subject, []byte("from record 3"))
				if !errors.Is(err, tt.err) || err == nil && !strings.HasPrefix(string(answer), "records") {
					t.Errorf("got %q, %v, want %v", answer, err, tt.err)
				}
				all, unread := a.Refusals()
				if want := max(0, tt.forged-answersAtOnce); all != uint64(tt.forged) || unread != uint64(want) {
					t.Errorf("refused %d, %d of them unread: want %d and %d", all, unread, tt.forged, want)
				}
			})
		})
	}
}
