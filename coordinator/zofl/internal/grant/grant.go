// Package grant lists the subjects that each role of a run publishes and subscribes, as permissions
// of the broker. Zofl itself does not authenticate devices. The broker's permissions on subjects
// decide as which device a user can send.
package grant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
)

// A Role is the role of a program in a run.
type Role string

// The roles.
const (
	Device      Role = "device"
	Witness     Role = "witness"     // follows and serves snapshots: `zofl follow`
	Coordinator Role = "coordinator" // `zofl serve`, and the commands that open a log in JetStream
	Operator    Role = "operator"    // commands a coordinator, and reads the log from it
)

// Roles are all roles.
var Roles = []Role{Device, Witness, Coordinator, Operator}

// Names returns the names of the roles, for messages.
func Names() string {
	var names []string
	for _, r := range Roles {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// HasID says whether a program with the role has an id of its own. Programs with other roles use
// [OperatorID].
func (r Role) HasID() bool { return r == Device || r == Witness }

// OperatorID is the id with which coordinators and operators ask for records. No device may have
// this id.
const OperatorID = "zofl"

// A Use lists the permissions that a program needs.
type Use struct {
	Run string
	// ID is the id of a device or witness. ID must be empty for other roles.
	ID string
	// Dense adds the permissions that transport=dense needs.
	Dense bool
	// Secure adds the permissions that secure=sum needs.
	Secure bool
	// Model adds the permissions with which devices fetch the model from the coordinator.
	Model bool
	// JetStream adds the permissions of a coordinator with its log in JetStream. Recovered adds the
	// permissions of a coordinator whose log `zofl recover` made.
	JetStream, Recovered bool
}

// Check returns an error unless the use makes sense for the role.
func (u *Use) Check(role Role) error {
	switch {
	case !slices.Contains(Roles, role):
		return fmt.Errorf("--role %s: choose one of %s", role, Names())
	case !role.HasID() && u.ID != "":
		return fmt.Errorf("%s: a %s has no name in its subjects: leave it out", u.ID, role)
	case u.ID == OperatorID:
		return fmt.Errorf("%s: the program asks for records by this name: choose another one", u.ID)
	case (u.JetStream || u.Recovered) && role != Coordinator:
		return fmt.Errorf("role %s: only a coordinator has a log", role)
	}
	if err := plan.CheckName(u.Run); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if err := plan.CheckName(u.ID); role.HasID() && err != nil {
		return fmt.Errorf("name of the %s: %w", role, err)
	}
	return nil
}

// Inbox returns the prefix of the subjects for answers to a role. The prefix for coordinators and
// operators consists of the prefix of [OperatorID] and the run.
func (u *Use) Inbox(role Role) string {
	switch role {
	case Coordinator:
		return subjects.Inbox(OperatorID) + ".c." + u.Run
	case Operator:
		return subjects.Inbox(OperatorID) + ".o." + u.Run
	}
	return subjects.Inbox(u.ID)
}

// answers is the permission to answer requests: one message to the reply subject of the request,
// within two minutes.
var answers = jwt.ResponsePermission{MaxMsgs: 1, Expires: 2 * time.Minute}

// For returns the permissions of a role. The broker denies everything else.
func For(role Role, u Use) (*jwt.Permissions, error) {
	if err := u.Check(role); err != nil {
		return nil, err
	}
	p := &jwt.Permissions{}
	p.Sub.Allow.Add(u.Inbox(role) + ".>")
	switch role {
	case Device, Witness:
		u.device(role, p)
	case Coordinator:
		u.coordinator(p)
	case Operator:
		u.asks(p, OperatorID)
		p.Pub.Allow.Add(subjects.Operator(u.Run, "*"))
	}
	slices.Sort(p.Pub.Allow)
	slices.Sort(p.Sub.Allow)
	return p, nil
}

// asks adds the permissions to request records from a coordinator, and the vectors that records
// name.
func (u *Use) asks(p *jwt.Permissions, id string) {
	p.Pub.Allow.Add(subjects.CatchUp(u.Run, id))
	if u.Dense {
		p.Pub.Allow.Add(subjects.Object(u.Run, id))
	}
}

func (u *Use) device(role Role, p *jwt.Permissions) {
	u.asks(p, u.ID)
	p.Pub.Allow.Add(subjects.Snapshot(u.Run, u.ID), subjects.AllShards(u.Run, u.ID))
	p.Sub.Allow.Add(subjects.AllAnnouncements(u.Run))
	if u.Model {
		p.Pub.Allow.Add(subjects.File(u.Run, u.ID))
	}
	p.Pub.Allow.Add(subjects.Join(u.Run, u.ID)) // a witness asks for no slot, but reports its state
	if role == Witness {
		p.Sub.Allow.Add(subjects.AllSnapshots(u.Run))
		p.Resp = &answers
		return
	}
	if u.Dense {
		p.Pub.Allow.Add(subjects.Upload(u.Run, u.ID))
	}
	if u.Secure {
		p.Pub.Allow.Add(subjects.Step(u.Run, u.ID))
	}
}

func (u *Use) coordinator(p *jwt.Permissions) {
	p.Resp = &answers
	p.Pub.Allow.Add(subjects.AllAnnouncements(u.Run))
	p.Sub.Allow.Add(subjects.AllReplies(u.Run), subjects.AllJoins(u.Run),
		subjects.AllCatchUps(u.Run), subjects.Operator(u.Run, "*"))
	name := operate.ServiceName(u.Run)
	for _, verb := range []micro.Verb{micro.PingVerb, micro.InfoVerb, micro.StatsVerb} {
		for _, of := range [][2]string{{}, {name}, {name, "*"}} {
			if subject, err := micro.ControlSubject(verb, of[0], of[1]); err == nil {
				p.Sub.Allow.Add(subject)
			}
		}
	}
	if u.Dense {
		p.Sub.Allow.Add(subjects.AllUploads(u.Run), subjects.AllObjects(u.Run))
	}
	if u.Secure {
		p.Sub.Allow.Add(subjects.AllSteps(u.Run))
	}
	if u.Model {
		p.Sub.Allow.Add(subjects.AllFiles(u.Run))
	}
	if u.Recovered {
		p.Sub.Allow.Add(subjects.AllSnapshots(u.Run))
	}
	if u.JetStream {
		p.Pub.Allow.Add(jetlog.Subjects(u.Run, u.Dense)...)
		p.Pub.Allow.Add(subjects.History(u.Run))
	} else {
		p.Pub.Allow.Add(subjects.Lead(u.Run))
		p.Sub.Allow.Add(subjects.Lead(u.Run))
	}
}
