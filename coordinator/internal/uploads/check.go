package uploads

import "fmt"

// Check returns which invariant of s does not hold. Only tests call Check.
func (s *Uploads) Check() error {
	promised, heard := 0, uint64(0)
	for e := s.order.Front(); e != nil; e = e.Next() {
		v := e.Value.(*upload)
		promised += v.room()
		if s.under[v.id] != e || v.heard < heard || len(v.data) >= v.size ||
			cap(v.data) > min(2*len(v.data), v.size) {
			return fmt.Errorf("vector %+v, cap %d", v, cap(v.data))
		}
		heard = v.heard
	}
	if len(s.under) != s.order.Len() || promised != s.Promised ||
		promised > s.Most && len(s.under) > 1 {
		return fmt.Errorf("%d and %d vectors of %d bytes, %d promised, %d may be",
			len(s.under), s.order.Len(), promised, s.Promised, s.Most)
	}
	return nil
}
