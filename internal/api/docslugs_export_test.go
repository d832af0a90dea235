package api

// DocSlugs lets tests of the public interface see which pages the codes name.
func DocSlugs() map[Code]string {
	out := map[Code]string{}
	for c, info := range codes {
		out[c] = info.Slug
	}
	return out
}

// Operations lists the ids of the table's entries with their paths.
func (s *Server) Operations() map[string]string {
	out := map[string]string{}
	for _, r := range s.table {
		out[r.ID] = r.Path
	}
	return out
}
