package presence

import "slices"

// An Accused is a member that may have sent what is false, with the text for people.
type Accused struct {
	Slot uint32
	Out  bool // sums leave it out; otherwise it is one of two that contradict each other
	Why  string
}

// Accuse replaces the accused members. Who is left out counts as absent from now on. Accuse returns
// the slots of members that were not accused before, or not left out, in the order of list.
func (w *Crowd) Accuse(list []Accused, now uint64) (news []Accused) {
	for i := range w.accused {
		w.Members[w.accused[i].Slot].LeftOut = false
	}
	for i := range list {
		a := &list[i]
		w.Members[a.Slot].LeftOut = a.Out
		if !slices.ContainsFunc(w.accused, func(b Accused) bool {
			return b.Slot == a.Slot && b.Out == a.Out
		}) {
			news = append(news, *a)
		}
	}
	for _, a := range slices.Concat(w.accused, list) {
		w.Place(a.Slot, now)
	}
	w.accused = list
	return news
}

// Accused returns the members that may have sent what is false, and are not retired.
func (w *Crowd) Accused() (list []Accused) {
	for _, a := range w.accused {
		if !w.Members[a.Slot].Retired {
			list = append(list, a)
		}
	}
	return list
}

// leftOut is the number of members that sums leave out.
func (w *Crowd) leftOut() (n uint32) {
	for _, a := range w.Accused() {
		if a.Out {
			n++
		}
	}
	return n
}
