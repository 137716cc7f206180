#ifndef ACPD_ACP_WORKER_SPOOL_H_
#define ACPD_ACP_WORKER_SPOOL_H_

#include <string>

#include "acp/link_frames.h"
#include "acp/worker/stdout_buffer.h"

namespace acpd::worker {

// Writes what a worker that nobody attaches to any more would still have sent: HELLO (of the launch
// spec only the worker's id: the rest holds keys), STDOUT from the first byte kept, EXIT, as the
// frames of the link. The file is readable by its owner alone and appears whole or not at all.
// False when it could not be written.
bool WriteSpool(const std::string& path, const acp::Hello& hello, const StdoutBuffer& stdout_bytes,
                const acp::WorkerExit& exit);

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_SPOOL_H_
