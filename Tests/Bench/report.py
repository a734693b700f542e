"""The figures as a table, beside those of the others."""

import os
import platform

MIB = 1 << 20


def machine():
    """One line on what was measured on."""
    model, memory = "", 0
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(": ", 1)[1].strip() for line in file
                          if line.startswith("model name")), "")
        with open("/proc/meminfo") as file:
            memory = int(file.readline().split()[1]) >> 20
    except OSError:
        pass
    return f"{os.cpu_count()} cores {model}, {memory} GiB, {platform.system()} {platform.release()}"


def figure(value):
    """Three digits that mean something."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def cell(row):
    wall, processor = row["wall"], row["processor"]
    return (f"{figure(wall['median'])} ({figure(wall['least'])}–{figure(wall['most'])}) / "
            f"{figure(processor['median'])} / {row['memory']['most'] / MIB:.0f}")


def markdown(rows, names, runs):
    lines = [f"Machine: {machine()}. Wall seconds (least–most) / processor seconds / peak MiB; "
             f"medians of {runs}.", "",
             "| workload | step | store | tool | figures | requests | wall, times osssync's |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        own = next((other for other in rows if other["tool"] == "osssync"
                    and all(other[name] == row[name]
                            for name in ("workload", "step", "remote"))), None)
        ratio = row["wall"]["median"] / own["wall"]["median"] if own else None
        counted = row.get("requests", row.get("times", ""))
        lines.append(f"| {row['workload']} {names[row['workload']]} | {row['step']} | "
                     f"{row['remote']} | {row['tool']} | {cell(row)} | {counted} | "
                     f"{figure(ratio) if ratio else ''} |")
    return "\n".join(lines) + "\n"
