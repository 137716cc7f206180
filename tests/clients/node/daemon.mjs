// Starts the acpd of ACPD_BIN_DIR in a scratch folder and on a free port; with the demo agent, unless `extra`
// (members of the config) says otherwise.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const binDir = process.env.ACPD_BIN_DIR;
if (!binDir) throw new Error('ACPD_BIN_DIR must name the folder of acpd');

export class Daemon {
  static async start(extra = {}) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'acpd-node-'));
    const config = path.join(dir, 'acpd.json');
    fs.writeFileSync(config, JSON.stringify({
      listen: ['127.0.0.1:0'],
      state_dir: path.join(dir, 'state'),
      runtime_dir: path.join(dir, 'run'),
      agent_servers: { demo: { extends: 'demo' } },
      shutdown: { workers: 'stop' },
      ...extra,
    }));
    const addressFile = path.join(dir, 'address');
    const log = fs.openSync(path.join(dir, 'acpd.log'), 'w');
    const child = spawn(path.join(binDir, 'acpd'), ['--config', config, '--address-file', addressFile], {
      env: { ...process.env, XDG_STATE_HOME: dir },
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    const daemon = new Daemon(dir, child);
    daemon.address = await daemon.#waitForAddress(addressFile);
    return daemon;
  }

  constructor(dir, child) {
    this.dir = dir;
    this.child = child;
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? code));
    });
  }

  // Ends it as a service manager would; fails unless it left with exit code 0.
  async stop() {
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 60_000);
    const end = await this.exited;
    clearTimeout(timer);
    const log = this.#log();
    fs.rmSync(this.dir, { recursive: true, force: true });
    if (end !== 0) throw new Error(`acpd ended with ${end}:\n${log}`);
  }

  async #waitForAddress(file) {
    const deadline = Date.now() + 30_000;
    while (!fs.existsSync(file)) {
      const end = await Promise.race([this.exited, pause(20, undefined)]);
      if (end !== undefined || Date.now() > deadline) {
        this.child.kill('SIGKILL');
        throw new Error(`acpd did not start (${end}):\n${this.#log()}`);
      }
    }
    return fs.readFileSync(file, 'utf8').split('\n')[0];
  }

  #log() {
    return fs.readFileSync(path.join(this.dir, 'acpd.log'), 'utf8');
  }
}
