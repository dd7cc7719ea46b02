"""Sources as a project has them: its roots, stores and repositories, and what it imported itself.

`SCHEMES` is the literal tuple of schemes, one file each; another one is a file and a line here. `resolving` puts them
together with the policy that is asked first.
"""

from ctxweb.sources.artifacts import ProjectArtifacts
from ctxweb.sources.base import ProjectScheme
from ctxweb.sources.git_blobs import GitBlobs
from ctxweb.sources.objects import StoredObjects
from ctxweb.sources.transcripts import ProjectTranscripts

SCHEMES: tuple[type[ProjectScheme], ...] = (
    ProjectTranscripts,
    ProjectArtifacts,
    StoredObjects,
    GitBlobs,
)
