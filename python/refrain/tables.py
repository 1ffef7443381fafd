"""Table: columns of the same length, as NumPy arrays; pandas where it is installed."""

import html

import numpy


class Table:
    """Named columns. `table["time_ns"]` is an array, `table[3]` a row as a dict, `len(table)` the number
    of rows, `for row in table` goes through them."""

    def __init__(self, columns):
        self._columns = dict(columns)
        lengths = {len(c) for c in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError("columns of different lengths: %s" % sorted(lengths))
        self._length = lengths.pop() if lengths else 0

    @classmethod
    def from_rows(cls, rows, names=None):
        """Of dicts; a key that a row lacks is None there. `names`: the columns, where there are no rows."""
        names = list(names or [])
        for row in rows:
            names += [name for name in row if name not in names]
        return cls({name: _column([row.get(name) for row in rows]) for name in names})

    @property
    def columns(self):
        return list(self._columns)

    def __len__(self):
        return self._length

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, (int, numpy.integer)):
            if not -self._length <= key < self._length:
                raise IndexError("row %d of %d" % (key, self._length))
            return {name: column[key] for name, column in self._columns.items()}
        return Table({name: column[key] for name, column in self._columns.items()})

    def __iter__(self):
        return (self[i] for i in range(self._length))

    def head(self, rows=5):
        """The first rows, as a Table."""
        return self[:max(0, rows)]

    def to_pandas(self):
        """The same as a pandas.DataFrame. Fails with ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame(self._columns)

    def _repr_html_(self):
        """For notebooks."""
        shown = min(self._length, 50)
        lines = ["<table><thead><tr>", "".join("<th>%s</th>" % html.escape(c) for c in self.columns),
                 "</tr></thead><tbody>"]
        for i in range(shown):
            lines.append("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(_text(c[i]))
                                                 for c in self._columns.values()))
        lines.append("</tbody></table>")
        if shown < self._length:
            lines.append("<p>%d of %d rows</p>" % (shown, self._length))
        return "".join(lines)

    def __repr__(self):
        shown = min(self._length, 10)
        cells = [self.columns] + [[_text(c[i]) for c in self._columns.values()] for i in range(shown)]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self._columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        if shown < self._length:
            lines.append("... %d rows" % self._length)
        return "\n".join(lines)


def _column(values):
    kinds = {type(v) for v in values}
    if kinds <= {bool}:
        return numpy.array(values, dtype=bool)
    if kinds <= {int}:
        return numpy.array(values, dtype=numpy.int64)
    if kinds <= {int, float}:
        return numpy.array(values, dtype=float)
    array = numpy.empty(len(values), dtype=object)
    array[:] = values
    return array


def _text(value):
    text = "%.6g" % value if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."
