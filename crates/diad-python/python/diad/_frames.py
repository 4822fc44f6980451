"""Data frames of pandas and polars as the compiled part reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas
    import polars

#: Below this many rows, making a table of Arrow takes longer than going through the cells.
FEW = 64


def columns(frame: pandas.DataFrame) -> tuple[list[str], bool, list[Any]]:
    """The names of the columns as text, whether all of them are texts, and the columns.

    A column is an array of numbers, truth values or times; a pair of codes and the texts they stand for; a table of Arrow with
    one column; or a list of objects.
    """
    names = list(frame.columns)
    named = all(isinstance(name, str) for name in names)
    return [name_of(name) for name in names], named, [column(values) for values in arrays(frame)]


def name_of(name: object) -> str:
    """A name as text; the levels of a name of several are joined."""
    return " ".join(str(part) for part in name if part != "") if isinstance(name, tuple) else str(name)


def arrays(frame: pandas.DataFrame) -> list[Any]:
    """The arrays behind the columns."""
    single = getattr(frame, "_get_column_array", None)
    if single is not None:
        # What pandas itself uses; to make a series of each column takes 20 times longer.
        return [single(index) for index in range(frame.shape[1])]
    return [frame.iloc[:, index].array for index in range(frame.shape[1])]


def column(values: Any) -> Any:
    """One column."""
    if type(values).__name__ == "NumpyExtensionArray":
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "m":
            return seconds(values)
        return values if values.dtype.kind in "fiubMc" else objects(values)
    kind = type(values.dtype).__name__
    if kind == "CategoricalDtype":
        return np.asarray(values.codes), [level(value) for value in values.categories]
    if kind == "DatetimeTZDtype":
        return values.tz_convert("UTC").tz_localize(None).to_numpy()
    if getattr(values.dtype, "kind", "O") in "mM" and hasattr(values, "asi8"):
        return column(values.to_numpy())
    if kind == "PeriodDtype":
        return values.to_timestamp().to_numpy()
    if kind == "SparseDtype":
        return column(np.asarray(values))
    if kind == "IntervalDtype":
        texts = [level(value) for value in values.unique() if value == value]
        places = {text: code for code, text in enumerate(texts)}
        return np.array([places[level(value)] if value == value else -1 for value in values], dtype=np.int64), texts
    return objects(values)


def seconds(values: Any) -> Any:
    """Durations as seconds; what is not a time is missing."""
    return values / np.timedelta64(1, "s")


def level(value: Any) -> Any:
    """A category: numbers and truth values as they are, all others as text."""
    if isinstance(value, (str, bool, int, float, np.bool_, np.integer, np.floating)) or hasattr(value, "isoformat"):
        return value
    return str(value)


def objects(values: Any) -> Any:
    """A column of anything, by Arrow where that can be, else as a list."""
    if len(values) > FEW:
        try:
            import pyarrow

            array = pyarrow.array(values, from_pandas=True)
            # Identifiers become bytes, which say less than their texts.
            if not pyarrow.types.is_fixed_size_binary(getattr(array.type, "storage_type", array.type)):
                return pyarrow.table([array], names=["column"])
        except Exception:  # noqa: BLE001, S110: pyarrow is not there, or knows no type for what this column mixes
            pass
    return list(values)


def of_polars(frame: polars.DataFrame) -> polars.DataFrame:
    """A data frame of polars, of which what Arrow has no type for is cast to one it has."""
    import polars

    foreign = [getattr(polars, name) for name in ("Int128", "UInt128", "Null") if hasattr(polars, name)]
    casts: dict[Any, Any] = {name: polars.Float64 for name, kind in frame.schema.items() if kind in foreign}
    return frame.cast(casts) if casts else frame
