"""Render the C sources of a model from the templates, with a prefix for all public C names.

The templates are written with ``pnn_`` and ``PNN_``. Another prefix, with which one program can
contain several models, is substituted in the templates, not in their output, so names from the
data, such as class names, are unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, partial

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from protonn_edge import __version__
from protonn_edge.codegen.compiled_templates import CompiledTemplates
from protonn_edge.codegen.context import c_float, program_context, render_context, with_names
from protonn_edge.codegen.kernels.in_templates import PublicName
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.codegen.planner import device_plans, own_program
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.registry import ROOMS, STAGES
from protonn_edge.model.shapes import image_text, shape_text
from protonn_edge.system.errors import InvalidValue, shortened
from protonn_edge.system.extensions import parts_of
from protonn_edge.system.files import resources

PREFIX = "pnn"

_LENGTH_LIMIT = 15  # C99 compares 31 characters; the longest public name is pnn_classify_vector
_FORM = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_KEYWORDS = """alignas alignof and asm auto bitand bitor bool break case catch char class compl
    const constexpr continue decltype default delete do double else enum explicit
    export extern false float for friend goto if inline int long mutable namespace
    new noexcept not nullptr operator or private protected public register restrict
    return short signed sizeof static struct switch template this throw true try
    typedef typeid typename typeof union unsigned using virtual void volatile while
    xor"""
_OF_C_HEADERS = "atomic fe fp lc memory pgm sig time"  # SIG_..., memory_..., pgm_read_byte
_RESERVED = frozenset(f"{_KEYWORDS} {_OF_C_HEADERS}".split())

_PUBLIC = re.compile(r"(?<![A-Za-z0-9])(?:pnn|PNN)(?=_)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_COMMENT_OR_LITERAL = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*'""", re.DOTALL | re.VERBOSE
)


def check_prefix(prefix: str) -> None:
    """Raise `InputError` unless `prefix` and ``_`` may begin C names, in either case."""
    if len(prefix) > _LENGTH_LIMIT or not _FORM.fullmatch(prefix):
        raise InvalidValue(
            f"prefix {shortened(repr(prefix))}",
            "C names cannot begin with it",
            "choose a prefix that begins with a letter, does not end with an "
            f"underscore, and has at most {_LENGTH_LIMIT} lower-case letters, digits "
            "and single underscores",
        )
    if prefix in _RESERVED:
        raise InvalidValue(f"prefix {prefix!r}", "reserved in C or C++", f"try '{prefix}_{PREFIX}'")


def prefix_of(name: str) -> str:
    """Return the prefix of a library: its `name`, as `library_name` gives it, shortened.

    Private names in the C begin with the stages' names, so a prefix must differ from these, too.
    """
    prefix = name.lower()[:_LENGTH_LIMIT].rstrip("_")
    if prefix not in _RESERVED and prefix not in STAGES:
        return prefix
    return f"{prefix[: _LENGTH_LIMIT - len(PREFIX) - 1].rstrip('_')}_{PREFIX}"


def check_collisions(prefix: str, sources: Iterable[str]) -> None:
    """Raise `InputError` if C with the default prefix has a public name with another one."""
    names = {
        name
        for source in sources
        for name in _IDENTIFIER.findall(_COMMENT_OR_LITERAL.sub(" ", source))
    }
    for name in sorted(filter(_PUBLIC.match, names)):
        renamed = with_prefix(name, prefix)
        if renamed in names:
            raise InvalidValue(
                f"prefix {prefix!r}",
                f"two names in the generated C would both be {renamed}",
                "choose another one with --library prefix=NAME",
            )


def with_prefix(text: str, prefix: str) -> str:
    """Return a text with `prefix` before its public names, in upper case for macros."""
    return _PUBLIC.sub(lambda name: prefix if name[0].islower() else prefix.upper(), text)


class PrefixedLoader(FileSystemLoader):
    """The templates of a folder, with another prefix; templates elsewhere are named by folder.

    These are also in the folders of kinds and features.
    """

    def __init__(self, folder: str, prefix: str) -> None:
        places = resources("templates")
        super().__init__(
            [*(place / folder for place in places), *places, *ROOMS.values()], encoding="utf-8"
        )
        self._prefix = prefix

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its file, and whether that is unchanged."""
        source, path, is_current = super().get_source(environment, template)
        return with_prefix(source, self._prefix), path, is_current


_TEMPLATES = ("model.h", "model.c", "inputs.h")
SOURCES = tuple(f"{PREFIX}_{name}" for name in _TEMPLATES)


def render_c(
    model: IntegerChain, plan: DevicePlan | None = None, prefix: str = PREFIX
) -> dict[str, str]:
    """Return the generated files by name: the same text for the same model, on every machine.

    - `plan`: one of the model's plans; by default the fastest that fits an Arduino Uno.
    - `prefix`: of the files, ``pnn_model.h``, ``pnn_model.c`` and ``pnn_inputs.h``, and of all
      public names; models with different prefixes can be linked into one program.

    Raises `InputError` if names cannot begin with the prefix, or names in the model already do.
    """
    check_prefix(prefix)
    chosen = plan or device_plans(model)[0]
    if isinstance(chosen, Plan):
        folder, context, plain = "", render_context(model, chosen), None
    else:
        program = own_program(model, chosen.core)
        folder, plain = f"{program.TEMPLATES}/", getattr(program, "plain", None)
        context = program_context(model, chosen) | program.context(model, chosen)

    def rendered(prefix: str) -> dict[str, str]:
        environment = template_environment("c", prefix)
        named = dict[str, str]()
        for name in _TEMPLATES:
            template = environment.select_template([f"{folder}{name}.j2", f"{name}.j2"])
            named[f"{prefix}_{name}"] = with_names(template.render(context), context)
        return {name: plain(text, prefix) for name, text in named.items()} if plain else named

    if prefix != PREFIX:
        check_collisions(prefix, rendered(PREFIX).values())
    return rendered(prefix)


def render_parts(model: IntegerChain) -> str:
    """Return the list of the parts of a model's firmware, for firmware/parts.h."""
    template = template_environment("c").get_template("parts.h.j2")
    return template.render(tool_version=__version__, parts=parts_of(model))


@cache
def template_environment(folder: str, prefix: str = PREFIX) -> Environment:
    """Return the environment for templates of a folder of ``templates/``, each compiled once."""
    loader = PrefixedLoader(folder, prefix)
    environment = _environment(loader, html=False)
    environment.finalize = partial(_finalized, prefix=prefix)
    environment.filters |= {"c_float": c_float, "image_text": image_text, "shape_text": shape_text}
    return environment


def _finalized(value: object, prefix: str) -> object:
    """Return what a template prints for a value: assembly and public names with the prefix."""
    own = isinstance(value, (Listing, PublicName))
    return with_prefix(str(value), prefix) if own else value


def html_environment() -> Environment:
    """Return an environment for the templates of pages, which escapes all that comes from data."""
    folders = [place / "html" for place in resources("templates")]
    loader = FileSystemLoader(folders, encoding="utf-8")
    return _environment(loader, html=True)


def _environment(loader: FileSystemLoader, *, html: bool) -> Environment:
    return Environment(
        loader=loader,
        bytecode_cache=CompiledTemplates(),
        optimized=False,  # a filter's result would be compiled, too, and outlive a change of it
        undefined=StrictUndefined,
        autoescape=html,  # noqa: S701  (contexts escape names for C)
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not html,
    )
