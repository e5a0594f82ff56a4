package fleet

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// answers sends the given number of answers to each join and each request for records. Only a check
// of the signatures distinguishes the answers from the coordinator's.
func (f *forger) answers(times int) {
	key, err := signed.ParseKeys(leaderText)
	if err != nil {
		f.t.Fatal(err)
	}
	forge := func(m *nats.Msg) {
		answer := (&wire.JoinReply{Status: wire.JoinDenied, Reason: "forged"}).Append(nil)
		answer = append(append(answer, "\xc4\x41"...), key[0][0])
		answer = append(answer, make([]byte, signed.Len-3)...)
		for i := range times {
			answer[len(answer)-1], answer[len(answer)-2] = byte(i), byte(i>>8)
			f.publish(m.Reply, answer)
		}
	}
	f.hear(subjects.AllJoins(f.run), forge)
	f.hear(subjects.AllCatchUps(f.run), forge)
}

// TestForgedAnswers checks that an attacker who receives the requests of devices, and answers each
// request a few hundred times, keeps no device from the run.
func TestForgedAnswers(t *testing.T) {
	const rounds, n, dim, times = 12, 3, 20, 300
	l := startLead(t, testPlan(t, "forged", dim, n, rounds), broker.Config{}, signs)
	l.listening("forged")
	f := l.forger("forged")
	f.answers(times)
	var conns []*nats.Conn
	for i := range n {
		conns = append(conns, l.connect(fmt.Sprint("d", i)))
	}
	l.agree("forged", l.devicesRefuse("forged", conns, dim, make([]progress, n)))
	if sent := f.sent.Load(); sent < n*times {
		t.Errorf("%d answers sent", sent)
	}
}

// TestForgedAnswersFlood checks a device whose coordinator is away, while an attacker answers the
// device's requests at line rate. The device checks a bounded number of answers and drops all
// further answers unread. When the flood is over and the coordinator is back, the device continues.
func TestForgedAnswersFlood(t *testing.T) {
	const rounds, n, dim = 10, 2, 20
	l := startLead(t, testPlan(t, "forged", dim, n, rounds), broker.Config{}, signs)
	l.listening("forged")
	conns := []*nats.Conn{l.connect("d0"), l.connect("d1")}
	l.agree("forged", l.devices("forged", conns, dim))
	l.stop(errFinished)
	l.ended.Wait()

	f := l.forger("forged")
	f.answers(20_000)
	flooded, r := make(chan client.Progress, 1), client.Progress{}
	began := time.Now()
	late, done := l.lateReplica(0, func(r client.Progress) {
		if r.Skipped >= 3000 && errors.Is(r.Err, signed.ErrUnsigned) {
			select {
			case flooded <- r:
			default:
			}
		}
	})
	select {
	case r = <-flooded:
	case err := <-done:
		t.Fatalf("the replica ended with %v", err)
	}
	took := time.Since(began).Seconds()
	checked := r.Refused - r.Skipped
	t.Logf("of %d answers in %.1f s, %d were checked and %d dropped unread", f.sent.Load(), took,
		checked, r.Skipped)
	if float64(checked) > 1024+32*took+1 {
		t.Errorf("%d answers were checked", checked)
	}
	f.nc.Close()
	l.goOn()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	l.agree("forged", []*client.Client{late})
}
