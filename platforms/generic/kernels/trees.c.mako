${f.storage} void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++, x += ${k.width}, y += ${k.targets}) {
% if k.aggregate == "SUM":
        for (int target = 0; target < ${k.targets}; target++) {
            y[target] = 0;
        }
% else:
        for (int target = 0; target < ${k.targets}; target++) {
            y[target] = ${"" if k.aggregate == "MIN" else "-"}(${k.real})INFINITY;
        }
% endif
        for (int tree = 0; tree < ${k.trees}; tree++) {
            int node = (int)roots[tree];
            int feature = (int)features[node];
            while (feature >= 0) {
% if k.mixed:
                const ${k.real} value = x[feature], split = splits[node];
                int passed = 0;
                switch (modes[node] & 7) {
                case 0: passed = value <= split; break;
                case 1: passed = value < split; break;
                case 2: passed = value >= split; break;
                case 3: passed = value > split; break;
                case 4: passed = value == split; break;
                default: passed = value != split; break;
                }
                passed = passed || (value != value && (modes[node] & 8) != 0);
                node = passed ? node + 1 : (int)others[node];
% else:
                node = x[feature] <= splits[node] ? node + 1 : (int)others[node];
% endif
                feature = (int)features[node];
            }
            int entry = (int)others[node];
            int target;
            do {
                target = (int)targets[entry];
                const int place = target < 0 ? -1 - target : target;
% if k.aggregate == "SUM":
                y[place] += weights[entry];
% else:
                if (weights[entry] ${"<" if k.aggregate == "MIN" else ">"} y[place]) {
                    y[place] = weights[entry];
                }
% endif
                entry++;
            } while (target < 0);
        }
% if k.aggregate != "SUM":
        for (int target = 0; target < ${k.targets}; target++) {
            if (isinf(y[target])) {
                y[target] = 0;
            }
        }
% endif
    }
}
