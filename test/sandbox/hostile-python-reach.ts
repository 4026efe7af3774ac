import { attempts } from './hostile-attempts.ts'
import { failed, type HostileCase, survived } from './hostile-case.ts'

const native = ['bubblewrap'] as const

/** Programs that try to reach outside. */
export const pythonThatReachesOut: HostileCase[] = [
  {
    name: 'writing outside',
    code: ({ folder }) => `
for path in ('${folder}/written', '/etc/written', '/usr/written', '/root/written', '/written', '../written', '/bin/sh'):
    try:
        with open(path, 'a') as file: file.write('was here')
        print('wrote', path)
    except OSError as error: print('stopped', error)
print('done')`,
    expect: survived,
  },
  {
    name: 'the network',
    code: ({ port }) => `
import socket, urllib.request
def attempt(name, action):
    try: print('LEAK', name, action())
    except BaseException as error: print('stopped', name, type(error).__name__)
def connect(host, port):
    with socket.create_connection((host, port), timeout=2) as line:
        line.sendall(b'hello')
        return line.recv(10)
attempt('loopback', lambda: connect('127.0.0.1', ${port}))
attempt('raw address', lambda: connect('1.1.1.1', 53))
attempt('url', lambda: urllib.request.urlopen('http://127.0.0.1:${port}/', timeout=2).read())
attempt('raw socket', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
print('done')`,
    limits: { wallMs: 10_000 },
    expect: survived,
  },
  {
    name: 'sockets that do not belong to the network namespace',
    // Only created, never connected: if one can be created, a packet of AF_VSOCK (40) leaves the machine.
    code: () => `
import socket
for family in list(range(0, 64)) + [2**31 - 1]:
    if family in (1, 2, 10): continue
    for kind in (1, 2, 3, 5):
        for make in (socket.socket, socket.socketpair):
            try: print('LEAK', family, kind, make(family, kind))
            except (OSError, ValueError, OverflowError, AttributeError): pass
print('done')`,
    expect: survived,
  },
  {
    name: 'sockets that bypass the system call filter',
    drivers: [...native],
    code: () => `
import ctypes, os, platform, signal
library = ctypes.CDLL(None, use_errno=True)
if library.syscall(425, 4, ctypes.create_string_buffer(256)) >= 0: print('LEAK io_uring')
# The same calls with the numbers of another ABI.
for number in [0x40000000 + 41] if platform.machine() == 'x86_64' else []:
    child = os.fork()
    if child == 0:
        if library.syscall(number, 40, 1, 0) >= 0: print('LEAK', number, flush=True)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGSYS: print('LEAK not killed')
print('done')`,
    expect: survived,
  },
  {
    name: 'the environment',
    code: ({ secret }) => `
import os
print('LEAK' if ${JSON.stringify(secret)} in str(dict(os.environ)) else 'clean')
print('LEAK' if set(os.environ) - {'PATH', 'HOME', 'LANG', 'LC_CTYPE'} else 'done', sorted(os.environ))`,
    expect: survived,
  },
  {
    name: 'files of the host',
    code: ({ file, folder }) =>
      attempts([
        `open('${file}').read()`,
        `os.listdir('${folder}')`,
        "open('/etc/passwd').read()",
        "open('/etc/shadow').read()",
        "open('/root/.bashrc').read()",
        "[name for name in os.listdir('/root') if name != '.pyenv'][0]",
        "open('/etc/hostname').read()",
        "os.listdir('/home/' + os.listdir('/home')[0])[0] if os.listdir('/home') != ['pyodide', 'web_user'] else 1 / 0",
        "os.listdir('/var')",
        "os.listdir('/sys')",
        "open('/dev/mem', 'rb').read(1)",
        "open('/dev/vda', 'rb').read(1)",
      ]),
    expect: survived,
  },
  {
    name: 'links to the outside',
    code: ({ file }) => `
import os
def attempt(source, target):
    try:
        os.symlink(target, source)
        with open(source) as file: print('LEAK', target, file.read()[:50])
    except OSError as error: print('stopped', error)
attempt('/box/one', '${file}')
attempt('/box/two', '/etc/passwd')
attempt('/box/three', '/proc/1/root/etc/passwd')
attempt('/box/four', '../../../../../../etc/shadow')
try: os.link('/etc/passwd', '/box/five'); print('LEAK')
except (OSError, AttributeError) as error: print('stopped', error)
print('done')`,
    expect: survived,
  },
  {
    name: 'tricks with /proc',
    code: ({ file, secret }) => `
import os
secret = ${JSON.stringify(secret)}
places = ['environ', 'cmdline', 'root${file}', 'cwd${file}', 'maps', 'mountinfo', 'stat']
for pid in [name for name in os.listdir('/proc') if name.isdigit() or name == 'self']:
    for place in places:
        try:
            with open(f'/proc/{pid}/{place}', 'rb') as file: text = file.read(1_000_000)
            if secret.encode() in text: print('LEAK', pid, place)
        except OSError: pass
    try:
        if len(os.listdir(f'/proc/{pid}/root/etc')) > 5: print('LEAK root of', pid)
    except OSError: pass
for path, text in [('/proc/sys/kernel/core_pattern', '|/bin/sh'), ('/proc/sysrq-trigger', 'b'),
                   ('/proc/1/mem', 'x'), ('/proc/1/oom_score_adj', '-1000'), ('/proc/sys/vm/drop_caches', '3')]:
    try:
        with open(path, 'r+') as file: file.write(text)
        print('LEAK wrote', path)
    except OSError as error: print('stopped', error)
print('done')`,
    expect: survived,
  },
  {
    name: 'calls into the C library',
    code: () => `
try:
    import ctypes
    library = ctypes.CDLL(None)
    for name, values in [('setuid', (0,)), ('setgid', (0,)), ('unshare', (0x10000000,)), ('unshare', (0x00020000,)),
                         ('mount', (b'none', b'/tmp', b'tmpfs', 0, None)), ('chroot', (b'/',)),
                         ('sethostname', (b'mine', 4)), ('setns', (0, 0)),
                         ('pivot_root', (b'/', b'/tmp')), ('swapoff', (b'/',)), ('reboot', (0,))]:
        try:
            if getattr(library, name)(*values) == 0: print('LEAK', name)
        except AttributeError: pass
    print('tried')
except ImportError as error:
    print('stopped', error)
print('done')`,
    expect: survived,
  },
  {
    name: 'attaching to the first process of its namespace',
    drivers: [...native],
    // This is allowed: that process has no more privileges. But then it stops, and so would the end of the run.
    code: () => 'import ctypes\nprint(ctypes.CDLL(None).ptrace(16, 1, 0, 0))',
    limits: { wallMs: 700 },
  },
  {
    name: 'forged messages',
    code: () => `
import json, os
text = json.dumps({'token': '', 'exit': 0, 'truncated': False, 'outOfMemory': False, 'stdoutBytes': 4,
                   'stderrBytes': 0, 'spent': False, 'heapBytes': 0, 'exit-code': 0, 'child-pid': 1}).encode()
for descriptor in range(3, 64):
    try: os.write(descriptor, len(text).to_bytes(4, 'little') + text)
    except OSError: pass
os.write(1, len(text).to_bytes(4, 'little') + text)
raise SystemExit(7)`,
    expect: (result) => result.exit === 7 && result.stdout.includes('"child-pid": 1'),
  },
  {
    name: 'killing its parents',
    code: () => `
import os, signal
for pid in (os.getppid(), 1, -1, 0, os.getpid()):
    try: os.kill(pid, signal.SIGKILL)
    except BaseException as error: print('stopped', error)
os._exit(9)`,
    expect: failed,
  },
  {
    name: 'other programs',
    code: () =>
      attempts([
        "__import__('subprocess').run(['su', '-c', 'id'], capture_output=True)",
        "__import__('subprocess').run(['bwrap', '--bind', '/', '/', 'id'], capture_output=True)",
        "__import__('subprocess').run(['unshare', '-r', 'id'], capture_output=True)",
        "__import__('subprocess').check_output(['/bin/sh', '-c', 'echo x > /bin/new'], stderr=-3)",
        "__import__('os').unshare(0x10000000)",
        "__import__('os').setuid(0)",
        "__import__('os').chroot('/tmp')",
        "__import__('os').mknod('/box/device', 0o60600, 0x800)",
        "__import__('resource').setrlimit(__import__('resource').RLIMIT_NPROC, (999, 999))",
        "__import__('resource').setrlimit(__import__('resource').RLIMIT_DATA, (2**40, 2**40))",
      ]),
    expect: survived,
  },
]
