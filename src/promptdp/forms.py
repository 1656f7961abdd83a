"""Forms of JSON files: a check of what a file must hold, before anything is made from it."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from promptdp.errors import InputError
from promptdp.files import shown


class Form(BaseModel):
    """The keys of a file, kinds taken strictly: no text for a number, no bool for one."""

    model_config = ConfigDict(strict=True)


def validated(form: type[Form], content: dict[str, Any], path: Path) -> dict[str, Any]:
    """The content of a file as it stands, after a check that it has a form.

    Raises:
        InputError: a key is missing or of another kind; the first is named.
    """
    try:
        form.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = shown(".".join(map(str, first["loc"])))
        what = f"lacks {key}" if first["type"] == "missing" else f"{key}: {first['msg']}"
        raise InputError(f"{path}: {what}; make it again with its rule") from None
    return content


def of_study(study: str, content: dict[str, Any], path: Path) -> dict[str, Any]:
    """The content of a file as it stands, after a check that it is of a study.

    Raises:
        InputError: it is of another study, or does not say of which.
    """
    if content.get("study") != study:
        raise InputError(f"{path}: is not of study {study}; give the files of one study")
    return content
