package export

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/parquet"
)

// How a column is encoded: by a dictionary where many of its values are equal.
const (
	plain = false
	dict  = true
)

// cells takes the values of a row, each with the name of its column. For a row without values
// it adds the columns. A value of which the method ends in If is missing where it is nil.
type cells struct {
	// schema is where columns are added; nil from then on.
	schema  *parquet.Writer
	columns []*parquet.Column
	next    int    // of the columns
	made    []byte // text
}

func (c *cells) add(f parquet.Field) { c.columns = append(c.columns, c.schema.Add(f)) }

// column is the one whose turn it is.
func (c *cells) column() *parquet.Column {
	c.next++
	return c.columns[c.next-1]
}

func (c *cells) int64(name string, v int64, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Int64, Dictionary: dictionary})
		return
	}
	c.column().Int64(v)
}

func (c *cells) moment(name string, v int64, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Timestamp, Dictionary: dictionary})
		return
	}
	c.column().Int64(v)
}

func (c *cells) int32(name string, v int32, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Int32, Dictionary: dictionary})
		return
	}
	c.column().Int32(v)
}

func (c *cells) int32If(name string, v *int32) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Int32, Optional: true})
		return
	}
	if to := c.column(); v == nil {
		to.Null()
	} else {
		to.Int32(*v)
	}
}

func (c *cells) uint64(name string, v uint64) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Uint64})
		return
	}
	c.column().Uint64(v)
}

func (c *cells) uint64If(name string, v *uint64) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Uint64, Optional: true})
		return
	}
	if to := c.column(); v == nil {
		to.Null()
	} else {
		to.Uint64(*v)
	}
}

func (c *cells) bool(name string, v bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Bool})
		return
	}
	c.column().Bool(v)
}

func (c *cells) text(name string, v string, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Text, Dictionary: dictionary})
		return
	}
	c.made = append(c.made[:0], v...)
	c.column().Text(c.made)
}

func (c *cells) textIf(name string, v *string, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Text, Optional: true, Dictionary: dictionary})
		return
	}
	if to := c.column(); v == nil {
		to.Null()
	} else {
		c.made = append(c.made[:0], *v...)
		to.Text(c.made)
	}
}

func (c *cells) felt(name string, v *felt.Felt, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Text, Dictionary: dictionary})
		return
	}
	c.made = v.AppendHex(c.made[:0])
	c.column().Text(c.made)
}

func (c *cells) feltIf(name string, v *felt.Felt, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Text, Optional: true, Dictionary: dictionary})
		return
	}
	if to := c.column(); v == nil {
		to.Null()
	} else {
		c.made = v.AppendHex(c.made[:0])
		to.Text(c.made)
	}
}

func (c *cells) felts(name string, v []felt.Felt, dictionary bool) {
	if c.schema != nil {
		c.add(parquet.Field{Name: name, Type: parquet.Text, List: true, Dictionary: dictionary})
		return
	}
	to := c.column()
	to.BeginList(len(v))
	for i := range v {
		c.made = v[i].AppendHex(c.made[:0])
		to.Text(c.made)
	}
}

// What the columns of an amount's parts are called, behind its name, and how many digits they have.
var parts = []struct {
	suffix     string
	digits     int
	dictionary bool
}{{"_e0", 26, plain}, {"_e26", 26, dict}, {"_e52", 38, dict}}

func (c *cells) amount(name string, v *amount) { c.amountOf(name, v, false) }

func (c *cells) amountIf(name string, v *amount) { c.amountOf(name, v, true) }

func (c *cells) amountOf(name string, v *amount, optional bool) {
	switch {
	case c.schema != nil:
		c.add(parquet.Field{Name: name, Type: parquet.Text, Optional: optional})
		for _, p := range parts {
			c.add(parquet.Field{Name: name + p.suffix, Type: parquet.Decimal(p.digits), Optional: optional, Dictionary: p.dictionary})
		}
	case v == nil:
		for range 1 + len(parts) {
			c.column().Null()
		}
	default:
		c.made = append(c.made[:0], v.text...)
		c.column().Text(c.made)
		c.column().Decimal(v.e0[:])
		c.column().Decimal(v.e26[:])
		c.column().Decimal(v.e52[:])
	}
}
