package plan

// GroupsFields is section groups: which devices share directions, for GroupDirections.
type GroupsFields struct {
	Groups    uint8  // how groups are chosen, see package internal/grouping
	GroupSize uint32 // devices of a group
	Regroup   uint32 // for how many rounds groups stay the same
	Classes   uint32 // classes whose scalars devices send separately, see package perclass; 0: none
}

var groupsSection = Section{
	Name: "groups",
	Doc:  "which devices share directions, with sharing=groups",
	fields: []Field{
		{Number: 93, Name: "groups", names: []string{"none", "random", "sketch", "auto"},
			Doc: "how the devices that share directions are chosen"},
		{Number: 94, Name: "group_size", Changeable: true, max: MaxMembers, Unit: "devices", Usual: "5",
			Doc: "devices that share directions"},
		{Number: 95, Name: "regroup", Changeable: true, max: anyUint32, Unit: "rounds", Usual: "10",
			Doc: "rounds for which groups are kept"},
		{Number: 96, Name: "classes", max: 64, Unit: "classes", Usual: "10",
			Doc: "classes whose scalars devices send apart, 0 for none"},
	}}
